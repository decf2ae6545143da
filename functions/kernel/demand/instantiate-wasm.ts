/** The part of the WebAssembly interface used here; the language's own types do not hold it. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
}

/** The exports of a module that has no imports. */
export function instantiateWasm(bytes: Uint8Array): object {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyApi })
    .WebAssembly;
  return new Instance(new Module(bytes)).exports;
}
