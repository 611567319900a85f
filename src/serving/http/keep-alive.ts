/** The longest period that a timer can have. */
const LONGEST_MS = 2 ** 31 - 1;

let holders = 0;
let timer: NodeJS.Timeout | undefined;

/** Keeps the process alive until `release` is called as often, as an open socket would. */
export function hold(): void {
  holders += 1;
  if (holders > 1) return;
  timer ??= setInterval(() => {}, LONGEST_MS);
  timer.ref();
}

/** Undoes one call of `hold`. */
export function release(): void {
  holders -= 1;
  if (holders === 0) timer?.unref();
}

/** How many of the process' timers exist only to keep it alive. */
export function holdingTimers(): number {
  return holders > 0 ? 1 : 0;
}
