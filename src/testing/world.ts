import type { ApiRequest, Stage } from "../api/call.ts";
import type { EncodedReply } from "../encoding/reply/encoded-reply.ts";
import type { Log } from "../lib/environment.ts";
import { type SeededRandom, seededRandom } from "../lib/seeded-random.ts";
import type { Config } from "../server/config.ts";
import { type Assembly, assemble } from "../server/server.ts";
import { type MemoryState, MemoryStore } from "../storage/memory.ts";
import { Activity } from "./activity.ts";
import { callers } from "./caller.ts";
import { type ClockState, DrivenClock } from "./clock.ts";
import { Faults } from "./faults.ts";
import { Journal, type JournalPart } from "./journal.ts";
import { RequestLog } from "./request-log.ts";
import { shared } from "./shared.ts";
import type { TestUsers } from "./test-users.ts";
import { WorldStore } from "./world-store.ts";

/** Everything that a control plane is at one moment. Costs next to nothing, and never changes. */
export interface WorldState {
  /** Undefined: nothing, not even what a server writes at its start. */
  readonly memory: MemoryState | undefined;
  readonly clock: ClockState;
  readonly seed: number;
  readonly journal: JournalPart | undefined;
}

/** What the worlds of one family have in common. */
export interface WorldOptions {
  readonly config: Config;
  readonly users: TestUsers;
  readonly log: Log;
  /** Requests wait until the server's own loops have come to rest, so that the same requests find the same state. */
  readonly isSteady: boolean;
}

/** The port that a control plane gives as its own: the same in all, so that their objects are. */
const ANNOUNCED_PORT = 6443;
const ANONYMOUS = "system:anonymous";

/** A server over a state, with its time, chance and faults. Nothing of it runs before somebody asks it something. */
export class World {
  readonly activity: Activity = new Activity();
  readonly clock: DrivenClock;
  readonly requests: RequestLog = new RequestLog();
  readonly faults: Faults;
  readonly #options: WorldOptions;
  readonly #random: SeededRandom;
  readonly #journal: Journal;
  readonly #store: WorldStore;
  readonly #isGuest: boolean;
  readonly #opened = new AsyncDisposableStack();
  #starting: Promise<Assembly> | undefined;
  #isClosed = false;

  constructor(options: WorldOptions, { memory, clock, seed, journal }: WorldState) {
    this.#options = options;
    this.#isGuest = memory !== undefined;
    this.clock = new DrivenClock(clock, () => this.activity.calm());
    this.#random = seededRandom(seed);
    this.#journal = new Journal(journal);
    const { compactionIntervalMs } = options.config;
    const historyMs = compactionIntervalMs === 0 ? Number.POSITIVE_INFINITY : compactionIntervalMs;
    const inner = new MemoryStore({ clock: this.clock, historyMs, ...(memory ? { begin: memory } : {}) });
    this.#store = new WorldStore(inner, { activity: this.activity, journal: this.#journal, clock: this.clock });
    this.faults = new Faults({
      clock: this.clock,
      random: () => this.#random,
      compact: async () => this.#store.compact(await this.#store.revision()),
    });
  }

  /** The state of this moment. */
  save(): WorldState {
    return {
      memory: this.#store.freeze(),
      clock: this.clock.save(),
      seed: this.#random.save(),
      journal: this.#journal.save(),
    };
  }

  /** All writes of an object, by its key in the store. */
  history(key: string) {
    return this.#journal.of(key);
  }

  /** The parts, which are made when they are first asked for. */
  parts(): Promise<Assembly> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Answers a request as a listener would have it. */
  async answer(request: ApiRequest): Promise<EncodedReply> {
    return (await this.parts()).secured(request);
  }

  /** Ends watches and loops. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#starting?.catch(() => undefined);
    await this.#opened.disposeAsync();
    await this.#store.close();
    this.clock.close();
  }

  async #start(): Promise<Assembly> {
    const { config, users, log } = this.#options;
    const environment = { clock: this.clock, random: this.#random, log };
    const { identity, accountKey } = shared();
    const given = {
      store: this.#store,
      identity,
      accountKey,
      tokens: users,
      stages: { outermost: this.#observe, identified: this.faults.stage },
      isGuest: this.#isGuest,
    };
    const assembly = await assemble(config, environment, given, this.#opened);
    assembly.start(ANNOUNCED_PORT);
    await assembly.ready;
    return assembly;
  }

  readonly #observe: Stage = (next) => async (call) => {
    const isClient = call.user.name === ANONYMOUS;
    const { isSteady } = this.#options;
    const isWatch = call.info.verb === "watch";
    const ended = isWatch ? () => {} : this.activity.begin(isClient);
    if (isClient) this.requests.add(call, this.clock.now());
    // What is under way besides this request comes first.
    if (isClient && isSteady) await this.activity.calm(isWatch ? 0 : 1);
    if (isWatch) this.activity.move();
    else call.whenFinished(ended);
    return callers.run({ call, staleBy: 0 }, () => next(call)).finally(isClient ? () => {} : ended);
  };
}
