import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { printQuantity, type Quantity } from "../../../base/api/quantity.ts";
import { type Amounts, NO_AMOUNTS, readAmounts, roundUp } from "../../../base/api/resource-amounts.ts";
import { getMember } from "../../../base/util/members.ts";
import type { Container } from "../../../kinds/types/container.ts";
import type { Texts } from "../../../kinds/types/meta.ts";
import { podSpecOf } from "../../../kinds/types/pod.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { refusal, targets } from "../matches.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";
import { specifiedAmounts } from "./pod-resources.ts";

const ANNOTATION = "kubernetes.io/limit-ranger";

/** LimitRanger: sets the default requests and limits of containers, and enforces min and max of LimitRanges. */
export function limitRanger(access: ObjectAccess): AdmissionPlugin {
  return {
    name: "LimitRanger",
    handles: (request) => request.previous?.metadata.deletionTimestamp === undefined && isLimited(request),
    async mutate(request) {
      const { object, namespace } = request;
      if (!object || !isPod(request)) return;
      for (const limits of await limitsOf(access, namespace)) setDefaults(object, limits);
    },
    async validate(request) {
      const { object, namespace } = request;
      if (!object) return;
      for (const limits of await limitsOf(access, namespace)) {
        const problems = isPod(request) ? podProblems(object, limits) : claimProblems(object, limits);
        if (problems.length > 0) throw refusal(request, printProblems(problems));
      }
    },
  };
}

/** Of updates, only pods/resize can change requests and limits. */
function isLimited(request: AdmissionRequest): boolean {
  const { operation } = request;
  if (targets(request, "", "persistentvolumeclaims")) return operation === "CREATE" || operation === "UPDATE";
  if (operation === "CREATE") return targets(request, "", "pods");
  return operation === "UPDATE" && targets(request, "", "pods", "resize");
}

const isPod = ({ resource }: AdmissionRequest) => resource.definition.plural === "pods";

interface LimitItem {
  type?: string;
  default?: Texts;
  defaultRequest?: Texts;
  min?: Texts;
  max?: Texts;
  maxLimitRequestRatio?: Texts;
}

/** The LimitRangeItems of every LimitRange in a namespace. */
async function limitsOf(access: ObjectAccess, namespace: string): Promise<LimitItem[][]> {
  const ranges = await access.list("", "limitranges", namespace, "any");
  return ranges.map(({ spec }) =>
    isObject(spec) && Array.isArray(spec.limits) ? (spec.limits as JsonObject[] as LimitItem[]) : [],
  );
}

function setDefaults(pod: KubeObject, items: readonly LimitItem[]): void {
  const limits: Texts = {};
  const requests: Texts = {};
  for (const item of items) {
    if (item.type !== "Container") continue;
    Object.assign(limits, item.default);
    Object.assign(requests, item.defaultRequest);
  }
  const { containers, initContainers } = podSpecOf(pod);
  const notes = [
    ...(containers ?? []).flatMap((one) => setContainerDefaults(one, `container ${one.name}`, { limits, requests })),
    ...(initContainers ?? []).flatMap((one) =>
      setContainerDefaults(one, `init container ${one.name}`, { limits, requests }),
    ),
  ];
  if (notes.length === 0) return;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${notes.join("; ")}`,
  };
}

function setContainerDefaults(
  container: Container,
  title: string,
  defaults: { readonly limits: Texts; readonly requests: Texts },
): string[] {
  const notes: string[] = [];
  for (const side of ["requests", "limits"] as const) {
    const own = container.resources?.[side] ?? {};
    const missing = Object.keys(defaults[side])
      .filter((name) => getMember(own, name) === undefined)
      .sort();
    if (missing.length === 0) continue;
    const next = Object.entries({ ...own, ...Object.fromEntries(missing.map((name) => [name, defaults[side][name]])) });
    container.resources = {
      ...container.resources,
      [side]: Object.fromEntries(next.sort(([a], [b]) => (a < b ? -1 : 1))),
    };
    notes.push(`${missing.join(", ")} ${side === "requests" ? "request" : "limit"} for ${title}`);
  }
  return notes;
}

/** Requests and limits of a container, pod or claim. */
interface Sides {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

function podProblems(pod: KubeObject, items: readonly LimitItem[]): string[] {
  const spec = podSpecOf(pod);
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const isCpuOrMemory = (name: string) => name === "cpu" || name === "memory";
  return items.flatMap((item) => {
    if (item.type === "Container") {
      return containers.flatMap(({ resources }) =>
        itemProblems(item, { requests: readAmounts(resources?.requests), limits: readAmounts(resources?.limits) }),
      );
    }
    if (item.type !== "Pod") return [];
    const amounts = (side: "requests" | "limits") => specifiedAmounts(spec, side, isCpuOrMemory);
    return itemProblems(item, { requests: amounts("requests"), limits: amounts("limits") });
  });
}

function itemProblems(item: LimitItem, sides: Sides): string[] {
  return [
    ...problemsWith(item, "min", sides, minProblem),
    ...problemsWith(item, "max", sides, maxProblem),
    ...problemsWith(item, "maxLimitRequestRatio", sides, ratioProblem),
  ];
}

function claimProblems({ spec }: KubeObject, items: readonly LimitItem[]): string[] {
  const resources = isObject(spec) && isObject(spec.resources) ? spec.resources : {};
  const requests = readAmounts(isObject(resources.requests) ? resources.requests : undefined);
  // Limits of a claim are ignored: only its requests count.
  const sides = { requests, limits: NO_AMOUNTS };
  return items.flatMap((item) =>
    item.type === "PersistentVolumeClaim"
      ? [...problemsWith(item, "min", sides, minProblem), ...problemsWith(item, "max", sides, maxRequestProblem)]
      : [],
  );
}

/** One constraint on one resource, with request and limit. */
interface Limit {
  /** For example `cpu`. */
  readonly name: string;
  readonly type: string;
  readonly enforced: Quantity;
  readonly request: Quantity | undefined;
  readonly limit: Quantity | undefined;
}

type Judge = (limit: Limit) => string | undefined;

function problemsWith(
  item: LimitItem,
  member: "min" | "max" | "maxLimitRequestRatio",
  { requests, limits }: Sides,
  judge: Judge,
): string[] {
  const { type = "" } = item;
  return [...readAmounts(item[member])].flatMap(
    ([name, enforced]) => judge({ name, type, enforced, request: requests.get(name), limit: limits.get(name) }) ?? [],
  );
}

const minProblem: Judge = (limit) => {
  const title = `minimum ${limit.name} usage per ${limit.type} is ${printQuantity(limit.enforced)}`;
  const { request, limit: given } = limit;
  if (!request) return `${title}.  No request is specified`;
  const values = comparable(limit);
  if (values.request < values.enforced) return `${title}, but request is ${printQuantity(request)}`;
  if (given && values.limit < values.enforced) return `${title}, but limit is ${printQuantity(given)}`;
  return undefined;
};

const maxProblem: Judge = (limit) => {
  const title = `maximum ${limit.name} usage per ${limit.type} is ${printQuantity(limit.enforced)}`;
  const { request, limit: given } = limit;
  if (!given) return `${title}.  No limit is specified`;
  const values = comparable(limit);
  if (values.limit > values.enforced) return `${title}, but limit is ${printQuantity(given)}`;
  if (request && values.request > values.enforced) return `${title}, but request is ${printQuantity(request)}`;
  return undefined;
};

const maxRequestProblem: Judge = (limit) => {
  const title = `maximum ${limit.name} usage per ${limit.type} is ${printQuantity(limit.enforced)}`;
  if (!limit.request) return `${title}.  No request is specified`;
  const values = comparable(limit);
  return values.request > values.enforced ? `${title}, but request is ${printQuantity(limit.request)}` : undefined;
};

const ratioProblem: Judge = (limit) => {
  const { name, type, enforced } = limit;
  const title = `${name} max limit to request ratio per ${type} is ${printQuantity(enforced)}`;
  const values = comparable(limit);
  if (values.request === 0n) return `${title}, but no request is specified or request is 0`;
  if (values.limit === 0n) return `${title}, but no limit is specified or limit is 0`;
  const ratio = Number(values.limit) / Number(values.request);
  const isFine = roundUp(enforced) <= MAX_MILLI;
  const exceeds = isFine ? ratio * 1000 > Number(roundUp(enforced, 3)) : ratio > Number(roundUp(enforced));
  return exceeds ? `${title}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
};

const MAX_MILLI = (2n ** 63n - 1n) / 1000n;

/**
 * Compat: `requestLimitEnforcedValues` compares by `MilliValue()`, or by `Value()` when one of the quantities is too
 * large for that.
 */
function comparable({ request, limit, enforced }: Limit): { request: bigint; limit: bigint; enforced: bigint } {
  const value = (digits: number) => (amount: Quantity | undefined) => (amount ? roundUp(amount, digits) : 0n);
  const isFine = [request, limit, enforced].every((amount) => value(0)(amount) <= MAX_MILLI);
  const read = value(isFine ? 3 : 0);
  return { request: read(request), limit: read(limit), enforced: read(enforced) };
}

function printProblems(problems: readonly string[]): string {
  const texts = [...new Set(problems)];
  return texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
}
