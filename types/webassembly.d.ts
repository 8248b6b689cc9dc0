// What is used of WebAssembly: Node 20's types leave it out, and the DOM's would bring a browser along.
declare namespace WebAssembly {
  /** Throws a CompileError, for instance where an instruction is unknown. */
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Memory {
    /** In pages of 64 KiB. */
    constructor(descriptor: { readonly initial: number });
    readonly buffer: ArrayBuffer;
  }
  class Instance {
    constructor(
      module: Module,
      imports?: Readonly<Record<string, Readonly<Record<string, Memory>>>>,
    );
    readonly exports: unknown;
  }
}
