// The parts that kiosk screens are made of. A view's `key` is its identity within one visit of a
// screen; the surface mints node ids from it. Handlers live on the view that offers them, and a
// disabled view has none, so nothing disabled can be reached.
import type { InputPurpose, NodeStates } from '../../../core/contract.ts';

export interface View {
  readonly key: string;
  readonly role?: string;
  readonly name?: string;
  readonly text?: string;
  /** Input value; the surface keeps that of a secure view to itself. */
  readonly value?: string;
  readonly testId?: string;
  readonly states?: NodeStates;
  readonly level?: number;
  readonly inputPurpose?: InputPurpose;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly children?: readonly View[];
  /** The choices of a combobox, by label. */
  readonly options?: readonly string[];
  tap?(): void;
  /** Takes a text field's whole new value. */
  input?(value: string): void;
  check?(on: boolean): void;
  choose?(option: string): void;
  enter?(): void;
}

export const heading = (name: string, level = 1): View => ({
  key: `h${level}:${name}`,
  role: 'heading',
  name,
  level,
});
export const text = (key: string, content: string): View => ({ key, text: content });
export const button = (name: string, tap: () => void, more: Partial<View> = {}): View => ({
  key: `button:${name}`,
  role: 'button',
  name,
  ...more,
  ...(more.states?.disabled === true ? {} : { tap }),
});
export const field = (
  name: string,
  value: string,
  input: (value: string) => void,
  more: Partial<View> = {},
): View => ({
  key: `field:${name}`,
  role: 'textbox',
  name,
  value,
  input,
  ...more,
});
export const toggle = (
  role: 'checkbox' | 'switch',
  name: string,
  on: boolean,
  check: (on: boolean) => void,
): View => ({
  key: `${role}:${name}`,
  role,
  name,
  states: { checked: on },
  tap: () => {
    check(!on);
  },
  check,
});
export const select = (
  name: string,
  value: string,
  options: readonly string[],
  choose: (option: string) => void,
): View => ({
  key: `select:${name}`,
  role: 'combobox',
  name,
  value,
  options,
  choose,
  children: options.map((option) => ({
    key: `option:${option}`,
    role: 'option',
    name: option,
    states: { selected: option === value },
    tap: () => {
      choose(option);
    },
  })),
});
/** A term and its definition: how the kiosk shows a labelled value. */
export const fact = (label: string, value: string): readonly View[] => [
  { key: `term:${label}`, role: 'term', name: label },
  { key: `definition:${label}`, role: 'definition', name: value },
];
export const alert = (problem: string | undefined): readonly View[] =>
  problem === undefined ? [] : [{ key: 'alert', role: 'alert', name: problem }];
