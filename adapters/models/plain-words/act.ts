// The next move of an `act` step. Nothing is remembered between requests: which commands are done is
// read off the conversation, by matching its own earlier calls, in order, against the instruction.
// A call of another tool than the command needs was a look around. One failed call ends the step
// with what the harness said: this model does not try things.
import type { ModelMessage, ModelTool, ModelToolCall } from '../../../core/agent/model.ts';
import { isPlainObject, type JsonObject, type JsonValue } from '../../../core/base/json.ts';
import type { ScreenReading } from '../../../core/agent/screen/read.ts';
import { readCommands, type Command } from './commands.ts';
import {
  CHECKABLE,
  CHOOSABLE,
  findTarget,
  list,
  named,
  plain,
  TAPPABLE,
  titleOf,
  TYPABLE,
  type Target,
} from './screen.ts';

export interface ActTask {
  readonly instruction: string;
  readonly params: JsonObject;
  /** The conversation after the task. */
  readonly since: readonly ModelMessage[];
  /** The screen as far as it was told. */
  readonly reading: ScreenReading | undefined;
  readonly tools: readonly ModelTool[];
  /** Only a verdict is taken now. */
  readonly mustConclude: boolean;
}

/** A tool call to make; its id is minted by the caller. */
export type Move = Pick<ModelToolCall, 'name'> & { readonly arguments: JsonObject };

/** The tools that carry a command out; any other call made for it was a look around. */
const TOOLS: Readonly<Record<Exclude<Command['kind'], 'tap'>, readonly string[]>> = {
  enter: ['type', 'select'],
  secret: ['type_secret'],
  choose: ['select', 'tap', 'check'],
  check: ['check'],
  press: ['press'],
  scroll: ['scroll'],
  'scroll-to': ['scroll_to'],
  open: ['navigate'],
  back: ['back'],
  'hide-keyboard': ['dismiss_keyboard'],
  drag: ['drag'],
  upload: ['upload'],
};

export function nextMove(task: ActTask): Move {
  const parsed = readCommands(task.instruction, task.params);
  if ('problem' in parsed) {
    return blocked(`plain-words cannot read this instruction: ${parsed.problem}.`);
  }
  const { commands } = parsed;
  const progress = progressOf(commands, task.since);
  const account = accountOf(commands, progress.done);
  if (progress.failure !== undefined) return failed(`${account} ${progress.failure}`);
  const command = commands[progress.done];
  if (command === undefined) return conclude({ status: 'passed', summary: account, code: null });
  if (task.mustConclude) {
    return failed(`${account} Not done: ${list(commands.slice(progress.done).map(saidOf))}.`);
  }
  if (task.reading === undefined) {
    return blocked(`${account} plain-words reads the screen's tree, and this screen has none.`);
  }
  return moveOf(command, { ...task, reading: task.reading }, { account, looks: progress.looks });
}

const saidOf = (command: Command): string => command.said;

function accountOf(commands: readonly Command[], done: number): string {
  return done === 0
    ? 'Nothing was done.'
    : `Done: ${commands.slice(0, done).map(saidOf).join('; ')}.`;
}

interface Progress {
  /** Commands carried out. */
  readonly done: number;
  /** Tools used to look around for the next one. */
  readonly looks: readonly string[];
  readonly failure?: string;
}

function progressOf(commands: readonly Command[], since: readonly ModelMessage[]): Progress {
  const results = new Map(
    since.flatMap((message) =>
      message.role === 'tool' ? [[message.callId, message] as const] : [],
    ),
  );
  let done = 0;
  let looks: string[] = [];
  for (const message of since) {
    if (message.role !== 'assistant') continue;
    for (const call of message.toolCalls) {
      const command = commands[done];
      if (command === undefined) break;
      const tools = command.kind === 'tap' ? [command.tool] : TOOLS[command.kind];
      const result = results.get(call.id);
      if (!tools.includes(call.name)) {
        looks.push(call.name);
      } else if (result?.isError === true) {
        return { done, looks, failure: `Failed at ${command.said}: ${firstLine(result.content)}` };
      } else {
        done += 1;
        looks = [];
      }
    }
  }
  return { done, looks };
}

function firstLine(content: Extract<ModelMessage, { role: 'tool' }>['content']): string {
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  return text.split('\n', 1)[0] ?? '';
}

interface Around {
  readonly account: string;
  readonly looks: readonly string[];
}
type Ready = Omit<ActTask, 'reading'> & { readonly reading: ScreenReading };
/** A node to act on, or the move to make instead. */
type Aim = { readonly id: string; readonly role: string } | { readonly instead: Move };

function moveOf(command: Command, task: Ready, around: Around): Move {
  const use = (name: string, values: Readonly<Record<string, JsonValue>>): Move =>
    call(task, { name, values, command, around });
  const aim = (target: Target, wants: Parameters<typeof findTarget>[2]): Aim =>
    aimAt(task, { target, wants, command, around });
  const on = (
    target: Target,
    wants: Parameters<typeof findTarget>[2],
    then: (id: string, role: string) => Move,
  ): Move => {
    const found = aim(target, wants);
    return 'instead' in found ? found.instead : then(found.id, found.role);
  };
  switch (command.kind) {
    case 'tap':
      return on(command.target, TAP, (id) => use(command.tool, { target: id }));
    case 'enter': {
      const { target, value } = command;
      if (target === undefined) return use('type', { target: null, value });
      return on(target, ENTER, (id, role) => {
        const isChoice =
          role === 'listbox' || (role === 'combobox' && hasOptions(task.reading, id));
        return use(isChoice ? 'select' : 'type', { target: id, value });
      });
    }
    case 'secret':
      return on(command.target, TYPE, (id) =>
        use('type_secret', { target: id, name: command.name }),
      );
    case 'choose':
      return choose(command, task, { use, on });
    case 'check':
      return on(command.target, CHECK, (id) =>
        use('check', { target: id, checked: command.checked }),
      );
    case 'press': {
      const { key, times, target } = command;
      if (target === undefined) return use('press', { target: null, key, times });
      return on(target, TAP, (id) => use('press', { target: id, key, times }));
    }
    case 'scroll':
      return use('scroll', { direction: command.direction, target: null, times: command.times });
    case 'scroll-to':
      return use('scroll_to', { target: null, text: command.text, direction: null });
    case 'open':
      return use('navigate', { url: command.url });
    case 'back':
      return use('back', {});
    case 'hide-keyboard':
      return use('dismiss_keyboard', {});
    case 'drag':
      return on(command.target, ANY, (id) =>
        on(command.to, ANY, (to) => use('drag', { target: id, to })),
      );
    case 'upload':
      return on(command.target, ANY, (id) => use('upload', { target: id, files: [command.file] }));
  }
}

const TAP = { roles: TAPPABLE, any: true, what: 'that can be tapped' };
const ENTER = { roles: [...TYPABLE, 'listbox'], what: 'that takes text' };
const TYPE = { roles: TYPABLE, what: 'that takes text' };
const CHOOSE = { roles: CHOOSABLE, what: 'with options' };
const CHECK = { roles: CHECKABLE, what: 'that can be checked' };
const ANY = { roles: [], any: true, what: 'to use' };

function hasOptions(reading: ScreenReading, id: string): boolean {
  return reading.lines.find((line) => line.id === id)?.options !== undefined;
}

/** An option of a named choice, of the only choice that has it, or something to tap. */
function choose(
  command: Extract<Command, { kind: 'choose' }>,
  { reading }: Ready,
  tools: {
    readonly use: (name: string, values: Readonly<Record<string, JsonValue>>) => Move;
    readonly on: (
      target: Target,
      wants: Parameters<typeof findTarget>[2],
      then: (id: string, role: string) => Move,
    ) => Move;
  },
): Move {
  const { option, target } = command;
  if (target !== undefined) {
    // A radio group, or a choice that opens by a tap, has its options as nodes of their own.
    const [choice] = named(reading, target.name).filter(({ role }) => CHOOSABLE.includes(role));
    const options = named(reading, option).filter(({ role }) => ['radio', 'option'].includes(role));
    if (choice !== undefined || options.length === 0) {
      return tools.on(target, CHOOSE, (id) => tools.use('select', { target: id, value: option }));
    }
    const within = { name: option, roles: ['radio', 'option'], within: target.name };
    return tools.on(within, TAP, (id) => tools.use('tap', { target: id }));
  }
  const owners = reading.lines.filter((line) =>
    line.options?.some((label) => plain(label) === plain(option)),
  );
  const [owner] = owners;
  if (owner !== undefined && owners.length === 1) {
    const label = owner.options?.find((known) => plain(known) === plain(option)) ?? option;
    return tools.use('select', { target: owner.id, value: label });
  }
  if (owners.length > 1) {
    return failed(
      `Several choices have the option ${JSON.stringify(option)}: ${list(owners.map(titleOf))}; say which with in "...".`,
    );
  }
  return tools.on({ name: option, roles: [] }, TAP, (id) => tools.use('tap', { target: id }));
}

/** Finds a target; when it is not there, looks at the whole screen, then scrolls, then gives up. */
function aimAt(
  task: Ready,
  options: {
    readonly target: Target;
    readonly wants: Parameters<typeof findTarget>[2];
    readonly command: Command;
    readonly around: Around;
  },
): Aim {
  const { target, wants, command, around } = options;
  const found = findTarget(task.reading, target, wants);
  if ('line' in found) return { id: found.line.id, role: found.line.role };
  const give = (why: string): Aim => ({
    instead: failed(`${around.account} Failed at ${command.said}: ${why}.`),
  });
  if ('problem' in found) return give(found.problem);
  const offered = (name: string): boolean =>
    task.tools.some((tool) => tool.name === name) && !around.looks.includes(name);
  const look = (name: string, values: Readonly<Record<string, JsonValue>>): Aim => ({
    instead: call(task, { name, values, command, around }),
  });
  if (task.reading.omitted.nodes > 0 && offered('observe')) return look('observe', {});
  if (canScrollTo(task.tools) && offered('scroll_to')) {
    return look('scroll_to', { target: null, text: target.name, direction: null });
  }
  return give(found.missing);
}

function canScrollTo(tools: readonly ModelTool[]): boolean {
  const properties = tools.find((tool) => tool.name === 'scroll_to')?.parameters['properties'];
  return isPlainObject(properties) && 'text' in properties;
}

/** A call with exactly the arguments that the tool's schema has. */
function call(
  { tools }: Pick<ActTask, 'tools'>,
  request: {
    readonly name: string;
    readonly values: Readonly<Record<string, JsonValue>>;
    readonly command: Command;
    readonly around: Around;
  },
): Move {
  const { name, values, command, around } = request;
  const tool = tools.find((one) => one.name === name);
  const known = tool?.parameters['properties'];
  const properties = isPlainObject(known) ? Object.keys(known) : [];
  const lacking = Object.keys(values).find(
    (key) =>
      !properties.includes(key) && values[key] !== null && !(key === 'times' && values[key] === 1),
  );
  if (tool === undefined || lacking !== undefined) {
    const what = tool === undefined ? name : `${name} with ${lacking}`;
    return blocked(`${around.account} Not done: ${command.said}: this engine offers no ${what}.`);
  }
  return {
    name,
    arguments: Object.fromEntries(properties.map((key) => [key, values[key] ?? null])),
  };
}

function failed(summary: string): Move {
  return conclude({ status: 'failed', summary, code: 'ACTION_FAILED' });
}
function blocked(summary: string): Move {
  return conclude({ status: 'blocked', summary, code: 'AUTOMATION_UNSUPPORTED' });
}
function conclude(verdict: JsonObject): Move {
  return { name: 'complete_step', arguments: verdict };
}
