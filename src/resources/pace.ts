import { setImmediate } from "node:timers/promises";

/** Yields to the event loop if the current turn has lasted long enough. */
export type Pause = () => Promise<void>;

const TURN_MS = 8;

/** Decoding a stored value of up to this size takes a few milliseconds at most. */
export const LIGHT_VALUE_BYTES = 64 * 1024;

let lastTurn: Promise<void> = Promise.resolve();

/**
 * Resolves in a turn of the event loop that no other caller shares, so that a chain of expensive steps does not add up.
 * A step that takes long by itself needs a worker thread instead.
 */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

/** For long computations: await the result between steps, so requests are served in the meantime. */
export function pacer(): Pause {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < TURN_MS) return;
    await ownTurn();
    since = performance.now();
  };
}

/** Visits that are too short to look at the clock after each. */
const VISITS_PER_LOOK = 200;

/** Visits all nodes of a tree with pauses, inner nodes before the nodes that contain them. */
export async function visitInSteps<Node>(
  root: Node,
  inside: (node: Node) => Iterable<Node>,
  visit: (node: Node) => void,
  pause: Pause,
): Promise<void> {
  const nodes = [root];
  let visits = 0;
  for (const node of nodes) {
    for (const inner of inside(node)) nodes.push(inner);
    if (visits++ % VISITS_PER_LOOK === 0) await pause();
  }
  for (const node of nodes.reverse()) {
    visit(node);
    if (visits++ % VISITS_PER_LOOK === 0) await pause();
  }
}
