// Where WebAssembly has no SIMD, the JS kernels take over without being asked, with the same bytes.
import { assert, suite } from '../harness.ts';

const test = suite('kernels that are missing');

test('an engine without SIMD refuses the module, and JS does its work', async () => {
  const { createJsKernels } = await import('../../core/pixels/kernels-js.ts');
  const { createKernels } = await import('../../core/pixels/kernels.ts');
  const { createSimdKernels } = await import('../../core/pixels/kernels-simd.ts');
  const real = Object.getOwnPropertyDescriptor(globalThis, 'WebAssembly');
  assert.ok(real !== undefined);
  let asked = 0;
  class Module {
    constructor() {
      asked += 1;
      throw new Error('Wasm SIMD unsupported');
    }
  }
  Object.defineProperty(globalThis, 'WebAssembly', { value: { Module }, configurable: true });
  try {
    assert.is(createSimdKernels(64), undefined);
    const kernels = createKernels('wasm', 64);
    assert.is(kernels.kind, 'js');
    assert.is(asked, 1, 'it is not tried again for every picture');
    assert.equal(Object.keys(kernels).toSorted(), Object.keys(createJsKernels(64)).toSorted());
  } finally {
    Object.defineProperty(globalThis, 'WebAssembly', real);
  }
});

test.run();
