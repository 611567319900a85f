import { EventLog } from "./event-log.ts";
import { type EventTerm, StoreError, type StoreEvent, type StoreWatch, type WatchInterest } from "./store.ts";
import { newLog, refill, type WatchLog } from "./watch-log.ts";
import { type WatchedLogs, Watcher } from "./watcher.ts";

const maxWokenPerTurn = 256;

/**
 * Watches over a log. Each watched prefix has a log of its own, so a change only wakes its watchers, and a watcher is
 * just a position. Example, with watchers on "/pods/" and "/pods/a/x":
 *   event "/pods/b/y"   goes to the log of "/pods/"
 *   event "/pods/a/x1"  goes to both ("/pods/a/x" is a prefix of it as well)
 *   event "/nodes/n"    goes to neither and wakes no watcher
 * In the same way, a change only wakes watchers with an interest if it has the term under which they are filed.
 */
export class WatchLogs implements WatchedLogs {
  readonly #all: EventLog;
  readonly #byPrefix = new Map<string, WatchLog>();
  // Lengths of the watched prefixes that do not end in "/", by their folder, with the number of prefixes of that
  // length.
  readonly #lengths = new Map<string, Map<number, number>>();
  #dirty: WatchLog[] = [];
  /** The watchers of the log being processed, and how many of them have been woken. */
  #woken: readonly { wake(): void }[] = [];
  #wokenAt = 0;
  #isWaking = false;
  #revision: number;
  /** Every event after this revision is kept. */
  #start: number;
  /** The oldest revision kept, as reported to callers. */
  #oldest: number;
  #closed: { readonly error: Error | undefined } | undefined;

  /** `all` is the log of all events; it holds everything after `revision`. */
  constructor(all: EventLog, revision: number) {
    this.#all = all;
    this.#revision = revision;
    this.#start = revision;
    this.#oldest = revision;
  }

  /** The revision up to which everything has been appended. */
  get revision(): number {
    return this.#revision;
  }

  /** Set after `close`, with its error if any; undefined while open. */
  get closed(): { readonly error: Error | undefined } | undefined {
    return this.#closed;
  }

  /** How many prefixes have a log now. */
  get prefixes(): number {
    return this.#byPrefix.size;
  }

  /** Adds an event, already in the log of all events, to the logs of its prefixes. Visible after `complete`. */
  append(event: StoreEvent): void {
    if (this.#byPrefix.size === 0) return;
    const { key } = event;
    for (let start = 0; start <= key.length; ) {
      const slash = key.indexOf("/", start);
      this.#appendInFolder(event, start, slash === -1 ? key.length : slash);
      if (slash === -1) return;
      start = slash + 1;
    }
  }

  /** Declares that everything up to `revision` was appended, and wakes the watchers of what was. */
  complete(revision: number): void {
    this.#revision = revision;
    if (this.#dirty.length > 0) queueMicrotask(() => this.#wake());
  }

  /** Does nothing until the first `next()`. */
  watch(prefix: string, revision: number, signal: AbortSignal, interest?: WatchInterest): StoreWatch {
    return new Watcher(this, { prefix, revision, signal, interest });
  }

  /** Drops events older than `revision` from all logs. */
  dropBefore(revision: number): void {
    this.#start = revision - 1;
    this.#oldest = revision;
    for (const log of this.#logs()) {
      const dropped = log.events.dropBefore(revision).at(-1);
      if (dropped !== undefined) log.droppedRevision = dropped.revision;
    }
  }

  /** Ends all watches, without an error or with the given one. */
  close(error?: Error): void {
    this.#closed ??= { error };
    for (const log of [...this.#logs()]) {
      for (const watcher of [...log.waiting]) watcher.wake();
    }
  }

  /**
   * A log of a prefix with all events after `revision` that are of interest. Each call must be matched by a call of
   * `release`.
   */
  open(prefix: string, revision: number, interest?: WatchInterest): WatchLog {
    const whole = this.#openWhole(prefix, revision);
    const [first, ...others] = interest?.terms ?? [];
    if (interest === undefined || first === undefined) return whole;
    const { index } = interest;
    const watchers = (term: EventTerm) => whole.parts.get(index, term)?.watchers ?? 0;
    // Of several terms, one that many have in common would wake many in vain.
    const term = others.reduce((best, other) => (watchers(other) < watchers(best) ? other : best), first);
    return this.#openPart({ whole, index, term }, revision);
  }

  #openWhole(prefix: string, revision: number): WatchLog {
    if (revision < this.#start) throw this.compactedError(prefix);
    let log = this.#byPrefix.get(prefix);
    if (log === undefined || revision < log.start) {
      const events = new EventLog();
      for (let i = this.#all.indexAfter(revision); i < this.#all.length; i++) {
        const event = this.#all.at(i);
        if (event?.key.startsWith(prefix)) events.append(event);
      }
      log = refill(log, events, revision) ?? this.#addWhole(prefix, events, revision);
    }
    log.watchers++;
    return log;
  }

  #openPart(part: NonNullable<WatchLog["part"]>, revision: number): WatchLog {
    const { whole, index, term } = part;
    let log = whole.parts.get(index, term);
    if (log === undefined || revision < log.start) {
      const events = new EventLog();
      for (let i = whole.events.indexAfter(revision); i < whole.events.length; i++) {
        const event = whole.events.at(i);
        if (event !== undefined && index.has(event, term)) events.append(event);
      }
      log = refill(log, events, revision) ?? newLog(whole.prefix, events, revision, part);
      whole.parts.set(index, term, log);
    }
    log.watchers++;
    return log;
  }

  /** Releases a log returned by `open`. The last release drops the log. */
  release(log: WatchLog): void {
    const { prefix, part } = log;
    log.watchers--;
    if (part !== undefined) {
      if (log.watchers === 0) part.whole.parts.delete(part.index, part.term);
      this.release(part.whole);
    } else if (log.watchers === 0) {
      this.#byPrefix.delete(prefix);
      this.#countLength(prefix, -1);
    }
  }

  /** Error for a watcher whose next event was compacted. */
  compactedError(prefix: string): StoreError {
    const message = `the history of ${JSON.stringify(prefix)} is only kept from revision ${this.#oldest} on`;
    return new StoreError("compacted", message, { revision: this.#oldest });
  }

  /** The folder is the key up to `start`; the name in it, of a leaf or of a folder, ends at `end`. */
  #appendInFolder(event: StoreEvent, start: number, end: number): void {
    const folder = event.key.slice(0, start);
    this.#appendTo(this.#byPrefix.get(folder), event);
    const lengths = this.#lengths.get(folder);
    if (lengths === undefined) return;
    for (const length of lengths.keys()) {
      // A longer prefix lies in a deeper folder, which is handled later.
      if (length <= end) this.#appendTo(this.#byPrefix.get(event.key.slice(0, length)), event);
    }
  }

  #appendTo(log: WatchLog | undefined, event: StoreEvent): void {
    // An event comes to the log of a term once for its old and once for its new state.
    if (log === undefined || log.events.at(log.events.length - 1) === event) return;
    log.events.append(event);
    log.latest = undefined;
    if (!log.parts.isEmpty) log.parts.find(event, (part) => this.#appendTo(part, event));
    if (log.isDirty || log.waiting.size === 0) return;
    log.isDirty = true;
    this.#dirty.push(log);
  }

  #wake(): void {
    if (this.#isWaking) return;
    this.#isWaking = true;
    this.#wakeSome();
  }

  /**
   * Wakes the watchers of one changed log after the other. If there are many, yields to the event loop in between, so
   * that their responses are sent before too many accumulate. A log that changes meanwhile is processed again.
   */
  #wakeSome(): void {
    for (let left = maxWokenPerTurn; ; ) {
      if (this.#wokenAt === this.#woken.length) {
        const log = this.#dirty.shift();
        this.#woken = log === undefined ? [] : [...log.waiting];
        this.#wokenAt = 0;
        this.#isWaking = log !== undefined;
        if (log === undefined) return;
        log.isDirty = false;
      } else if (left-- > 0) {
        this.#woken[this.#wokenAt++]?.wake();
      } else {
        setImmediate(() => this.#wakeSome());
        return;
      }
    }
  }

  #addWhole(prefix: string, events: EventLog, start: number): WatchLog {
    const log = newLog(prefix, events, start);
    this.#byPrefix.set(prefix, log);
    this.#countLength(prefix, 1);
    return log;
  }

  *#logs(): Generator<WatchLog> {
    for (const log of this.#byPrefix.values()) {
      yield log;
      yield* log.parts;
    }
  }

  #countLength(prefix: string, step: 1 | -1): void {
    const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
    if (folder === prefix) return;
    const lengths = this.#lengths.get(folder) ?? new Map<number, number>();
    const count = (lengths.get(prefix.length) ?? 0) + step;
    if (count > 0) lengths.set(prefix.length, count);
    else lengths.delete(prefix.length);
    if (lengths.size > 0) this.#lengths.set(folder, lengths);
    else this.#lengths.delete(folder);
  }
}
