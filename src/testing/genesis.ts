import type { Config } from "../server/config.ts";
import { SILENCE } from "../server/library/start-server.ts";
import type { ClockState } from "./clock.ts";
import type { TestUsers } from "./test-users.ts";
import { World, type WorldState } from "./world.ts";

/** States of control planes that have just started, by what they depend on. */
const known = new Map<string, Promise<WorldState>>();
/** Of one process: configurations are few, times are not. */
const MAX_KNOWN = 20;
const SEED = 0;

/**
 * The state of a control plane with this configuration that has just started: the objects that are always there. It is
 * made once; all further ones begin with it.
 */
export function genesis(config: Config, clock: ClockState, users: TestUsers): Promise<WorldState> {
  const key = JSON.stringify([config, clock.isRunning || clock.nowMs]);
  const before = known.get(key);
  if (before) return before;
  const made = make(config, clock, users);
  known.set(key, made);
  made.catch(() => known.delete(key));
  const [oldest] = known.keys();
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  return made;
}

async function make(config: Config, clock: ClockState, users: TestUsers): Promise<WorldState> {
  const empty: WorldState = {
    memory: undefined,
    clock: { ...clock, isRunning: false },
    seed: SEED,
    journal: undefined,
  };
  const world = new World({ config, users, log: SILENCE, isSteady: false }, empty);
  try {
    await world.parts();
    await world.activity.calm();
    return world.save();
  } finally {
    await world.close();
  }
}
