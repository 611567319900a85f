import type { Stage } from "../../../base/api/call.ts";
import { systemClock } from "../../../base/util/clock.ts";
import { mandatoryObjects } from "../../../kinds/built-in/flowcontrol/fixed-objects.ts";
import { fairnessDumps } from "../../../serving/fairness/dump.ts";
import { shareFairly } from "../../../serving/fairness/fair-requests.ts";
import { Fairness } from "../../../serving/fairness/fairness.ts";
import { FairnessMetrics } from "../../../serving/fairness/fairness-metrics.ts";
import { FlowObjectFollower } from "../../../serving/fairness/follow-objects.ts";
import { limitRequests } from "../../../serving/fairness/limit-requests.ts";
import { ObjectSizes } from "../../../serving/fairness/object-statistics.ts";
import { WatchCounts } from "../../../serving/fairness/watch-counts.ts";
import type { PathFacts } from "../../../serving/pipeline/path-facts.ts";
import type { Endpoint } from "../../../serving/pipeline/router.ts";
import type { Setting } from "./setting.ts";
import type { StorageParts } from "./storage.ts";

/** What limits concurrent requests. */
export interface FairnessParts {
  /** The stage of the pipeline. Undefined: requests are not limited. */
  readonly stage: ((facts: Pick<PathFacts, "isLongRunning">) => Stage) | undefined;
  readonly endpoints: readonly Endpoint[];
  /** Follow the stored configuration. */
  readonly followed: readonly FlowObjectFollower[];
}

/** The part of its time limit that a request may wait, and the longest wait. Compat: `getRequestWaitContext`. */
const WAIT_FRACTION = 4;
const LONGEST_WAIT_MS = 60_000;

/** Builds priority and fairness, or plain limits if it is off. */
export function assembleFairness(
  { config, environment, log, registries }: Setting,
  { resources }: StorageParts,
): FairnessParts {
  const { clock } = environment;
  const { maxRequestsInflight: maxReads, maxMutatingRequestsInflight: maxWrites } = config;
  // A driven clock does not measure how long something took.
  if (clock !== systemClock) return { stage: undefined, endpoints: [], followed: [] };
  if (!config.enablePriorityAndFairness) {
    const stage = ({ isLongRunning }: Pick<PathFacts, "isLongRunning">) =>
      limitRequests({ maxReads, maxWrites, isLongRunning });
    return { stage, endpoints: [], followed: [] };
  }
  const fairness = new Fairness({
    clock,
    seats: maxReads + maxWrites,
    mandatory: mandatoryObjects,
    metrics: new FairnessMetrics(registries["/metrics"]),
  });
  const sizes = new ObjectSizes(resources);
  const waitMs = Math.min(config.requestTimeoutMs / WAIT_FRACTION, LONGEST_WAIT_MS);
  return {
    stage: ({ isLongRunning }) =>
      shareFairly({
        fairness,
        clock,
        isLongRunning,
        objectsOf: (info) => sizes.of(info),
        watches: new WatchCounts(),
        waitMs,
      }),
    endpoints: [fairnessDumps(fairness.levels, clock)],
    followed: [
      new FlowObjectFollower(resources, fairness, (error) =>
        log.error("watching flow schemas and priority levels failed, retrying", { err: error }),
      ),
    ],
  };
}
