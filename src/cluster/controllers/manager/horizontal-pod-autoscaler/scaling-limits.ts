import type { Autoscaler, ScalingRules } from "./autoscaler-types.ts";

/** Upstream: --horizontal-pod-autoscaler-downscale-stabilization */
const DOWN_WINDOW_SECONDS = 300;

/** A size, and why it was chosen. */
export interface Limited {
  readonly replicas: number;
  readonly reason: string;
  readonly message: string;
}

interface Recommendation {
  readonly replicas: number;
  readonly timeMs: number;
}

/** What happened to an autoscaler. It is lost at a restart, as upstream. */
interface History {
  recommendations: Recommendation[];
  /** Changes of the size: the number of Pods that were added or removed. */
  up: Recommendation[];
  down: Recommendation[];
}

const within: Pick<Limited, "reason" | "message"> = {
  reason: "DesiredWithinRange",
  message: "the desired count is within the acceptable range",
};
const TOO_MANY = {
  reason: "TooManyReplicas",
  message: "the desired replica count is more than the maximum replica count",
};
const TOO_FEW = {
  reason: "TooFewReplicas",
  message: "the desired replica count is less than the minimum replica count",
};
const UP_LIMIT = {
  reason: "ScaleUpLimit",
  message: "the desired replica count is increasing faster than the maximum scale rate",
};
const DOWN_LIMIT = {
  reason: "ScaleDownLimit",
  message: "the desired replica count is decreasing faster than the maximum scale rate",
};

/** Limits how fast and how far autoscalers scale, by their recent history. */
export class ScalingLimits {
  readonly #now: () => number;
  readonly #histories = new Map<string, History>();

  constructor(now: () => number) {
    this.#now = now;
  }

  forget(key: string): void {
    this.#histories.delete(key);
  }

  /** Begins the history with the current size. */
  start(key: string, current: number): void {
    if (this.#histories.has(key)) return;
    const recommendations = [{ replicas: current, timeMs: this.#now() }];
    this.#histories.set(key, { recommendations, up: [], down: [] });
  }

  /** Records a change of the size, for the policies of `spec.behavior`. */
  scaled(key: string, { spec: { behavior } }: Autoscaler, before: number, after: number): void {
    const history = this.#histories.get(key);
    if (behavior === undefined || history === undefined) return;
    const rules = after > before ? behavior.scaleUp : behavior.scaleDown;
    const longest = greatest(
      (rules?.policies ?? []).map(({ periodSeconds }) => periodSeconds),
      0,
    );
    const direction = after > before ? "up" : "down";
    const recent = history[direction].filter(({ timeMs }) => timeMs >= this.#now() - longest * 1000);
    history[direction] = [...recent, { replicas: Math.abs(after - before), timeMs: this.#now() }];
  }

  /** The recommendation after the stabilization windows. Upstream: stabilizeRecommendation(WithBehaviors) */
  stabilize(key: string, { spec: { behavior } }: Autoscaler, current: number, desired: number): Limited {
    const history = this.#histories.get(key);
    const now = this.#now();
    const up = behavior?.scaleUp?.stabilizationWindowSeconds ?? 0;
    const down = behavior?.scaleDown?.stabilizationWindowSeconds ?? DOWN_WINDOW_SECONDS;
    const recent = (seconds: number) =>
      (history?.recommendations ?? [])
        .filter(({ timeMs }) => timeMs > now - seconds * 1000)
        .map(({ replicas }) => replicas);
    const [lowest, highest] = [least(recent(up), desired), greatest(recent(down), desired)];
    if (history) {
      const kept = history.recommendations.filter(({ timeMs }) => timeMs >= now - Math.max(up, down) * 1000);
      history.recommendations = [...kept, { replicas: desired, timeMs: now }];
    }
    // Without `spec.behavior` only a decrease is stabilized.
    const replicas = behavior === undefined ? highest : Math.min(Math.max(current, lowest), highest);
    const isUp = behavior !== undefined && desired >= current;
    const [extreme, applied, reason] = isUp
      ? ["lower", "lowest", "ScaleUpStabilized"]
      : ["higher", "highest", "ScaleDownStabilized"];
    const message = `recent recommendations were ${extreme} than current one, applying the ${applied} recent recommendation`;
    return { replicas, reason: reason ?? "", message };
  }

  /** The size within the limits of the spec and of its policies. */
  limit(key: string, { spec }: Autoscaler, current: number, desired: number, min: number): Limited {
    if (spec.behavior === undefined) return limitBySpec(current, desired, min, spec.maxReplicas);
    const { scaleUp = {}, scaleDown = {} } = spec.behavior;
    if (desired > current) {
      const rate = Math.max(current, this.#rate(key, current, scaleUp, 1));
      const [most, why] = spec.maxReplicas > rate ? [rate, UP_LIMIT] : [spec.maxReplicas, TOO_MANY];
      return desired > most ? { replicas: most, ...why } : { replicas: desired, ...within };
    }
    if (desired < current) {
      const rate = Math.min(current, this.#rate(key, current, scaleDown, -1));
      const [least, why] = min < rate ? [rate, DOWN_LIMIT] : [min, TOO_FEW];
      return desired < least ? { replicas: least, ...why } : { replicas: desired, ...within };
    }
    return { replicas: desired, ...within };
  }

  /** How far the policies allow to go. Upstream: calculateScaleUpLimitWithScalingRules and its counterpart */
  #rate(
    key: string,
    current: number,
    { selectPolicy = "Max", policies = [] }: ScalingRules,
    direction: 1 | -1,
  ): number {
    if (selectPolicy === "Disabled") return current;
    const history = this.#histories.get(key);
    const changed = (list: readonly Recommendation[] = [], seconds: number) =>
      list
        .filter(({ timeMs }) => timeMs > this.#now() - seconds * 1000)
        .reduce((sum, { replicas }) => sum + replicas, 0);
    const proposals = policies.map(({ type, value, periodSeconds }) => {
      const start = current - changed(history?.up, periodSeconds) + changed(history?.down, periodSeconds);
      if (type === "Pods") return start + direction * value;
      return direction === 1 ? Math.ceil(start * (1 + value / 100)) : Math.trunc(start * (1 - value / 100));
    });
    const isFarthest = selectPolicy !== "Min";
    return isFarthest === (direction === 1) ? greatest(proposals) : least(proposals);
  }
}

/** Upstream: convertDesiredReplicasWithRules */
function limitBySpec(current: number, desired: number, min: number, max: number): Limited {
  const rate = Math.max(2 * current, 4);
  const [most, why] = max > rate ? [rate, UP_LIMIT] : [max, TOO_MANY];
  if (desired < min) return { replicas: min, ...TOO_FEW };
  return desired > most ? { replicas: most, ...why } : { replicas: desired, ...within };
}

const greatest = (list: readonly number[], start = Number.NEGATIVE_INFINITY) =>
  list.reduce((best, one) => Math.max(best, one), start);
const least = (list: readonly number[], start = Number.POSITIVE_INFINITY) =>
  list.reduce((best, one) => Math.min(best, one), start);
