import type { LogRequest } from "../../../serving/connect/handlers/handlers.ts";

/** Lines that are kept per container. Older ones are dropped, as when a kubelet rotates logs. */
const MAX_LINES = 10_000;

interface Line {
  readonly atMs: number;
  readonly text: string;
}

/** How a log is to be read. */
export type LogSelection = Partial<
  Pick<LogRequest, "follow" | "timestamps" | "tailLines" | "sinceSeconds" | "sinceTime" | "signal">
>;

/** What a container has written. */
export class LogBuffer {
  #lines: Line[] = [];
  /** How many lines have been dropped. */
  #dropped = 0;
  #isClosed = false;
  #waiting: (() => void)[] = [];

  /** Adds the lines of a text. A line feed at the end adds no empty line. */
  add(text: string, atMs: number): void {
    if (this.#isClosed) return;
    for (const line of text.replace(/\n$/, "").split("\n")) this.#lines.push({ atMs, text: line });
    const surplus = this.#lines.length - MAX_LINES;
    if (surplus > 0) {
      this.#lines = this.#lines.slice(surplus);
      this.#dropped += surplus;
    }
    this.#wake();
  }

  /** The container has ended: readers that follow the log get no more. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  async *read(selection: LogSelection, nowMs: number): AsyncGenerator<string> {
    const { follow = false, timestamps = false, tailLines, signal } = selection;
    const wanted = this.#lines.filter(({ atMs }) => atMs >= sinceMs(selection, nowMs));
    const print = ({ atMs, text }: Line) => `${timestamps ? `${printNanoseconds(atMs)} ` : ""}${text}\n`;
    let next = this.#dropped + this.#lines.length;
    if (follow) signal?.addEventListener("abort", () => this.#wake(), { once: true });
    for (const line of tailLines === undefined
      ? wanted
      : wanted.slice(wanted.length - Math.min(tailLines, wanted.length))) {
      yield print(line);
    }
    while (follow && !signal?.aborted) {
      const fresh = this.#lines.slice(Math.max(0, next - this.#dropped));
      next = this.#dropped + this.#lines.length;
      for (const line of fresh) yield print(line);
      if (fresh.length === 0) {
        if (this.#isClosed) return;
        await this.#changed();
      }
    }
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

function sinceMs({ sinceSeconds, sinceTime }: LogSelection, nowMs: number): number {
  if (sinceTime !== undefined) return Date.parse(sinceTime);
  return sinceSeconds === undefined ? 0 : nowMs - sinceSeconds * 1000;
}

const printNanoseconds = (ms: number) => new Date(ms).toISOString().replace("Z", "000000Z");
