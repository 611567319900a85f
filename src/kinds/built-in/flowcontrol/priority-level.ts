import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import { sameValue } from "../shared-rules/immutable.ts";
import { mandatoryObjects } from "./fixed-objects.ts";
import { flowConditionErrors } from "./flow-conditions.ts";

interface Queuing extends JsonObject {
  queues?: number;
  handSize?: number;
  queueLengthLimit?: number;
}

interface Limited extends JsonObject {
  nominalConcurrencyShares?: number | null;
  limitResponse?: { type?: string; queuing?: Queuing };
  lendablePercent?: number;
  borrowingLimitPercent?: number;
}

interface Exempt extends JsonObject {
  nominalConcurrencyShares?: number;
  lendablePercent?: number;
}

interface LevelSpec extends JsonObject {
  type?: string;
  limited?: Limited;
  exempt?: Exempt;
}

const TYPES = ["Exempt", "Limited"];
const RESPONSES = ["Queue", "Reject"];
const ROUND_TRIP = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
const MAX_QUEUES = 10_000_000;
/** Bits of the shuffle-sharding hash that selects queues. */
const MAX_ENTROPY = 60;
const NOT_NEGATIVE = "must be a non-negative integer";

const SPEC_SHAPE: GoShape = [
  ["Type", "type", ""],
  [
    "Limited",
    "limited",
    null,
    [
      ["NominalConcurrencyShares", "nominalConcurrencyShares", 0],
      [
        "LimitResponse",
        "limitResponse",
        { Type: "", Queuing: null },
        [
          ["Type", "type", ""],
          [
            "Queuing",
            "queuing",
            null,
            [
              ["Queues", "queues", 0],
              ["HandSize", "handSize", 0],
              ["QueueLengthLimit", "queueLengthLimit", 0],
            ],
          ],
        ],
      ],
      ["LendablePercent", "lendablePercent"],
      ["BorrowingLimitPercent", "borrowingLimitPercent"],
    ],
  ],
  [
    "Exempt",
    "exempt",
    null,
    [
      ["NominalConcurrencyShares", "nominalConcurrencyShares"],
      ["LendablePercent", "lendablePercent"],
    ],
  ],
];

const specOf = (level: KubeObject): LevelSpec => (level.spec as LevelSpec | undefined) ?? {};

function shareErrors(shares: number | null | undefined, path: string): FieldError[] {
  return (shares ?? 0) < 0 ? [invalidField(`${path}.nominalConcurrencyShares`, shares, NOT_NEGATIVE)] : [];
}

function lendableErrors(percent: number | undefined, path: string): FieldError[] {
  if (percent === undefined || (percent >= 0 && percent <= 100)) return [];
  return [invalidField(`${path}.lendablePercent`, percent, "must be between 0 and 100, inclusive")];
}

function queuingErrors({ queues = 0, handSize = 0, queueLengthLimit = 0 }: Queuing, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const positive = (member: string, value: number) => {
    if (value <= 0) errors.push(invalidField(`${path}.${member}`, value, "must be positive"));
    return value > 0;
  };
  positive("queueLengthLimit", queueLengthLimit);
  if (positive("queues", queues) && queues > MAX_QUEUES) {
    errors.push(invalidField(`${path}.queues`, queues, `must not be greater than ${MAX_QUEUES}`));
  }
  if (!positive("handSize", handSize)) return errors;
  if (handSize > queues) {
    errors.push(invalidField(`${path}.handSize`, handSize, `should not be greater than queues (${queues})`));
  } else if (Math.ceil(Math.log2(queues) * handSize) > MAX_ENTROPY) {
    const text = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${MAX_ENTROPY}`;
    errors.push(invalidField(`${path}.handSize`, handSize, text));
  }
  return errors;
}

function limitedErrors(limited: Limited, path: string): FieldError[] {
  const { limitResponse = {}, lendablePercent, borrowingLimitPercent = 0 } = limited;
  const errors = shareErrors(limited.nominalConcurrencyShares, path);
  const { type = "", queuing } = limitResponse;
  if (type === "Queue" && queuing) addAll(errors, queuingErrors(queuing, `${path}.limitResponse.queuing`));
  if (type !== "" && !RESPONSES.includes(type)) {
    errors.push(notSupportedField(`${path}.limitResponse.type`, type, RESPONSES));
  }
  addAll(errors, lendableErrors(lendablePercent, path));
  if (borrowingLimitPercent < 0) {
    const text = `if specified, ${NOT_NEGATIVE}`;
    errors.push(invalidField(`${path}.borrowingLimitPercent`, borrowingLimitPercent, text));
  }
  return errors;
}

function specErrors(spec: LevelSpec, name: string): FieldError[] {
  const errors: FieldError[] = [];
  const { type = "", limited, exempt } = spec;
  if ((name === "exempt") !== (type === "Exempt")) {
    errors.push(invalidField("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  if (type === "Limited" && limited) addAll(errors, limitedErrors(limited, "spec.limited"));
  if (type === "Exempt" && exempt) {
    addAll(errors, shareErrors(exempt.nominalConcurrencyShares, "spec.exempt"));
    addAll(errors, lendableErrors(exempt.lendablePercent, "spec.exempt"));
  }
  if (type !== "" && !TYPES.includes(type)) errors.push(notSupportedField("spec.type", type, TYPES));
  return [...errors, ...fixedErrors(spec, name)];
}

/** Rejects changes of the mandatory PriorityLevelConfigurations, except of `spec.exempt` of exempt. */
function fixedErrors(spec: LevelSpec, name: string): FieldError[] {
  const fixed = mandatoryObjects.levels.find(({ metadata }) => metadata.name === name);
  if (!fixed) return [];
  const isExempt = name === "exempt";
  const compared = isExempt ? { ...spec, exempt: specOf(fixed).exempt } : spec;
  if (sameValue(compared, fixed.spec)) return [];
  const exception = isExempt ? " except the 'spec.exempt' field" : "";
  return [invalidField("spec", asGo(spec, SPEC_SHAPE), `spec of '${name}'${exception} must equal the fixed value`)];
}

/**
 * Validates which fields match `spec.type` and `limitResponse.type`. Compat: declarative validation checks the unions
 * of PriorityLevelConfigurationSpec, after all other errors.
 */
function unionErrors({ type = "", limited, exempt }: LevelSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (exempt && type !== "Exempt") errors.push(forbiddenField("spec.exempt", ""));
  if (limited && type !== "Limited") errors.push(forbiddenField("spec.limited", ""));
  if (!limited && type === "Limited") errors.push(requiredField("spec.limited"));
  if (type === "") errors.push(requiredField("spec.type"));
  if (!limited) return errors;
  const path = "spec.limited.limitResponse";
  const { type: response = "", queuing } = limited.limitResponse ?? {};
  if (queuing && response !== "Queue") errors.push(forbiddenField(`${path}.queuing`, ""));
  if (!queuing && response === "Queue") errors.push(requiredField(`${path}.queuing`));
  if (response === "") errors.push(requiredField(`${path}.type`));
  return errors;
}

function annotationErrors({ metadata }: KubeObject): FieldError[] {
  if (metadata.annotations?.[ROUND_TRIP] === undefined) return [];
  return [forbiddenField("metadata.annotations", `annotation '${ROUND_TRIP}' is forbidden`)];
}

/** Sets defaults of QueuingConfiguration; zero means unset. */
function fillQueuing(queuing: Queuing): void {
  queuing.handSize ||= 8;
  queuing.queues ||= 64;
  queuing.queueLengthLimit ||= 50;
}

/** PriorityLevelConfiguration: how many requests run concurrently, and whether others are queued or rejected. */
export const priorityLevelHooks: ResourceHooks = {
  setDefaults(level) {
    const { limited, exempt } = specOf(level);
    if (limited) {
      limited.nominalConcurrencyShares ??= 30;
      limited.lendablePercent ??= 0;
      if (limited.limitResponse?.queuing) fillQueuing(limited.limitResponse.queuing);
    }
    if (exempt) {
      exempt.nominalConcurrencyShares ??= 0;
      exempt.lendablePercent ??= 0;
    }
  },
  validate(next, _previous, { subresource }) {
    if (subresource === "status") return flowConditionErrors(next);
    const spec = specOf(next);
    return [
      ...annotationErrors(next),
      ...specErrors(spec, next.metadata.name ?? ""),
      ...flowConditionErrors(next),
      ...unionErrors(spec),
    ];
  },
};
