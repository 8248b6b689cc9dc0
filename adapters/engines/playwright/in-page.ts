// The way to the in-page code: injected when a document does not have it yet (a new one has not),
// called by method name, its answers read into errors. Reads that a navigation cuts off may be
// asked again by the caller; what may have committed never is.
import type { Frame, JSHandle } from 'playwright-core';
import { EngineError } from '../../../core/contract.ts';
import type { Answer, PageArgs, PageKey, PageMethod, PageResult } from '../document/api.ts';
import source from '../document/page.ts?inline';
import type { Operation } from './operation.ts';

const KEY: PageKey = 'enginewright.document';

/** What the page keeps under the key (document/page.ts). */
interface Door {
  call(method: string, args: unknown): Promise<string>;
  idOf(element: unknown): string;
  element(id: string): unknown;
}

/** Calls a method; `undefined` when the document does not have the code. */
export async function peek<M extends PageMethod>(
  operation: Operation,
  frame: Frame,
  method: M,
  args: PageArgs<M>,
): Promise<Answer<PageResult<M>> | undefined> {
  const json = await operation.wait(
    frame.evaluate(
      (call) => {
        const door = (globalThis as unknown as Record<symbol, Door | undefined>)[
          Symbol.for(call.key)
        ];
        return door?.call(call.method, call.args);
      },
      { key: KEY, method: method as string, args: args as unknown },
    ),
  );
  return json === undefined ? undefined : (JSON.parse(json) as Answer<PageResult<M>>);
}

export async function inject(operation: Operation, frame: Frame): Promise<void> {
  await operation.wait(frame.evaluate(source));
}

/**
 * Calls a method, with the code injected where it is missing. Throws `NODE_STALE` for a node that
 * is gone and `NOT_ACTIONABLE` for a refusal.
 */
export async function ask<M extends PageMethod>(
  operation: Operation,
  frame: Frame,
  method: M,
  args: PageArgs<M>,
): Promise<PageResult<M>> {
  let answer = await peek(operation, frame, method, args);
  if (answer === undefined) {
    await inject(operation, frame);
    answer = await peek(operation, frame, method, args);
  }
  if (answer === undefined) {
    throw new EngineError('ENGINE_FAILURE', 'The page refuses the code that observes it.');
  }
  if ('ok' in answer) return answer.ok;
  if ('stale' in answer) {
    throw new EngineError('NODE_STALE', 'The node is not on the page any more: observe again.', {
      retryable: true,
    });
  }
  throw new EngineError('NOT_ACTIONABLE', answer.refused);
}

/** Ends a guard in the background, whatever became of the operation that set it. */
export function disarm(frame: Frame): void {
  frame
    .evaluate(
      (key) =>
        (globalThis as unknown as Record<symbol, Door | undefined>)[Symbol.for(key)]?.call(
          'release',
          null,
        ),
      KEY as string,
    )
    .catch(() => undefined);
}

/** The element of an id as a handle, for what only Playwright can do with it. */
export function elementHandle(
  operation: Operation,
  frame: Frame,
  id: string,
): Promise<JSHandle<unknown>> {
  return operation.wait(
    frame.evaluateHandle(
      (call) =>
        (globalThis as unknown as Record<symbol, Door | undefined>)[Symbol.for(call.key)]?.element(
          call.id,
        ),
      { key: KEY as string, id },
    ),
  );
}

/** The id of an element, minted by its top document; nothing where another origin closes it. */
export function idOfHandle(
  operation: Operation,
  handle: JSHandle<unknown>,
): Promise<string | undefined> {
  return operation.wait(
    handle.evaluate((element, key) => {
      try {
        const top = (globalThis as unknown as { readonly top: Record<symbol, Door | undefined> })
          .top;
        return top[Symbol.for(key)]?.idOf(element);
      } catch {
        return undefined;
      }
    }, KEY as string),
  );
}
