import { ContainerImages } from "../../cluster/nodes/behaviour/container-images.ts";
import { SILENCE } from "../library/start-server.ts";
import type { Config } from "../server/config.ts";
import type { ClockState } from "./clock.ts";
import type { TestUsers } from "./test-users.ts";
import { World, type WorldState } from "./world.ts";

/** Initial states of control planes, by configuration and clock. */
const known = new Map<string, Promise<WorldState>>();
/** Per process: there are few configurations, but many times. */
const MAX_KNOWN = 20;
const SEED = 0;

/**
 * The state of a control plane with this configuration right after its start: the objects that always exist. Created
 * once; later control planes start from it.
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
    served: [],
    lostNodes: [],
  };
  const world = new World({ config, users, log: SILENCE, isSteady: false, images: new ContainerImages() }, empty);
  try {
    await world.parts();
    await world.activity.calm();
    return world.save();
  } finally {
    await world.close();
  }
}
