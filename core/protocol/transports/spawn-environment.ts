// What a spawned server inherits. It needs the machine's environment (PATH, HOME, DISPLAY, proxies,
// SDK roots), but not the secrets of whoever runs the tests: an engine server is somebody's program,
// it logs and crashes. So values that look like ours or like a model's key stay behind, unless they
// are put in by name: in the transport's `env`, or in the run's environment that crosses anyway.

/** Names that are not inherited from the process. */
const WITHHELD: readonly RegExp[] = [
  /^E2E_(SECRET|USER)_/u,
  /(^|_)API_?KEYS?$/u,
  /^(ANTHROPIC|AZURE_OPENAI|CLAUDE|GEMINI|GOOGLE_AI|HF|HUGGING_FACE|HUGGINGFACE|MISTRAL|OPENAI|OPENROUTER)_.*(KEY|SECRET|TOKEN)$/u,
  /^AWS_(SECRET_ACCESS_KEY|SESSION_TOKEN|BEARER_TOKEN_BEDROCK)$/u,
  /^ENGINEWRIGHT_.*(KEY|SECRET|TOKEN)$/u,
];

type Environment = Readonly<Record<string, string | undefined>>;

export interface ChildEnvironmentSources {
  /** The environment of this process. */
  readonly inherited: Environment;
  /** The run's environment: goes in as it is; `undefined` takes a variable out. */
  readonly run: Environment;
  /** The transport's own: has the last word. */
  readonly own: Environment;
}

/** The environment of a child process. */
export function childEnvironment(sources: ChildEnvironmentSources): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(sources.inherited)) {
    // Windows does not tell cases apart.
    const plain = name.toUpperCase();
    if (value !== undefined && !WITHHELD.some((pattern) => pattern.test(plain))) {
      result[name] = value;
    }
  }
  for (const source of [sources.run, sources.own]) {
    for (const [name, value] of Object.entries(source)) {
      if (value === undefined) delete result[name];
      else result[name] = value;
    }
  }
  return result;
}
