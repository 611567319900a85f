import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { refusal, targets } from "../matches.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";

const CLASSES = { group: "scheduling.k8s.io", plural: "priorityclasses" };
/** Resources besides pods that have a priorityClassName. */
const GROUPS: Readonly<Record<string, string>> = { podgroups: "pod group", compositepodgroups: "composite pod group" };
const DEFAULT_POLICY = "PreemptLowerPriority";

/** Priority: resolves priorityClassName to a number, and allows only one PriorityClass with globalDefault. */
export function priority(access: ObjectAccess): AdmissionPlugin {
  return {
    name: "Priority",
    handles: (request) =>
      (request.operation === "CREATE" || request.operation === "UPDATE") &&
      (targets(request, "", "pods") ||
        targets(request, CLASSES.group, CLASSES.plural) ||
        Object.keys(GROUPS).some((plural) => targets(request, CLASSES.group, plural))),
    async mutate(request) {
      const { object, previous } = request;
      if (!object || !isObject(object.spec) || targets(request, CLASSES.group, CLASSES.plural)) return;
      if (request.operation === "CREATE") await setPriority(access, request, object.spec);
      else if (targets(request, "", "pods") && isObject(previous?.spec)) keepPriority(object.spec, previous.spec);
    },
    async validate(request) {
      const { object, operation } = request;
      if (!targets(request, CLASSES.group, CLASSES.plural) || object?.globalDefault !== true) return;
      const present = await findDefault(access, "newest");
      const isOwn = operation === "UPDATE" && present?.metadata.name === object.metadata.name;
      if (!present || isOwn) return;
      const text = `PriorityClass ${present.metadata.name} is already marked as default. Only one default can exist`;
      throw refusal(request, text);
    },
  };
}

function keepPriority(spec: JsonObject, previous: JsonObject): void {
  for (const member of ["priority", "preemptionPolicy"]) {
    if (spec[member] === undefined && previous[member] !== undefined) spec[member] = previous[member];
  }
}

async function setPriority(access: ObjectAccess, request: AdmissionRequest, spec: JsonObject): Promise<void> {
  const isPod = targets(request, "", "pods");
  const { value, policy, name } = await computePriority(access, request, spec);
  if (name !== undefined) spec.priorityClassName = name;
  if (typeof spec.priority === "number" && spec.priority !== value) {
    const text = isPod
      ? `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`
      : `priority set in the ${getMember(GROUPS, request.resource.definition.plural)} (${spec.priority}) must match the priority computed (${value}) based on the priority class set in the spec`;
    throw refusal(request, text);
  }
  spec.priority = value;
  if (!isPod) return;
  if (typeof spec.preemptionPolicy === "string" && spec.preemptionPolicy !== policy) {
    const text = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`;
    throw refusal(request, text);
  }
  spec.preemptionPolicy = policy;
}

interface Computed {
  readonly value: number;
  readonly policy: string;
  /** The default PriorityClass, if the object names none. */
  readonly name?: string;
}

async function computePriority(access: ObjectAccess, request: AdmissionRequest, spec: JsonObject): Promise<Computed> {
  const className = spec.priorityClassName;
  if (typeof className === "string" && className !== "") {
    const found = await access.find(CLASSES.group, CLASSES.plural, { namespace: "", name: className });
    if (found) return read(found);
    throw refusal(request, `no PriorityClass with name ${className} was found`);
  }
  const found = await findDefault(access, "any");
  return found ? { ...read(found), name: found.metadata.name } : { value: 0, policy: DEFAULT_POLICY };
}

/**
 * The PriorityClass with globalDefault. If concurrent writes created two of them, the one with the lower value counts.
 */
async function findDefault(access: ObjectAccess, freshness: "newest" | "any"): Promise<KubeObject | undefined> {
  const classes = await access.list(CLASSES.group, CLASSES.plural, "", freshness);
  const defaults = classes.filter((one) => one.globalDefault === true);
  return defaults.sort((a, b) => read(a).value - read(b).value)[0];
}

function read(priorityClass: KubeObject): Computed {
  const { value, preemptionPolicy } = priorityClass;
  return {
    value: typeof value === "number" ? value : 0,
    policy: typeof preemptionPolicy === "string" ? preemptionPolicy : DEFAULT_POLICY,
  };
}
