/** Resolves after `turns()` turns of the event loop in a row in which `count` returned the same number. */
export function quietTurns(turns: () => number, count: () => number): Promise<void> {
  return new Promise((resolve) => {
    let seen = count();
    let quiet = 0;
    const turn = () => {
      const now = count();
      quiet = now === seen ? quiet + 1 : 0;
      seen = now;
      if (quiet >= turns()) resolve();
      else setImmediate(turn);
    };
    setImmediate(turn);
  });
}
