import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { rangeAround } from "../../../base/net/ip-range.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import type { LabelSelector } from "../../types/meta.ts";
import { declaredHook } from "../shared-rules/declared.ts";
import { portName, portNumber, pushInvalid } from "../shared-rules/formats.ts";
import { parseLooseRange, pushRangeErrors, rangeWarnings } from "../shared-rules/ip-ranges.ts";
import { type SelectorOptions, validateLabelSelector } from "../shared-rules/label-selector.ts";

interface Port extends JsonObject {
  protocol?: string;
  port?: number | string;
  endPort?: number;
}

interface IpBlock extends JsonObject {
  cidr?: string;
  except?: string[];
}

interface Peer extends JsonObject {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: IpBlock;
}

interface Rule extends JsonObject {
  ports?: Port[];
  from?: Peer[];
  to?: Peer[];
}

interface PolicySpec extends JsonObject {
  podSelector?: LabelSelector;
  ingress?: Rule[];
  egress?: Rule[];
  policyTypes?: string[];
}

/** Violations of the stored NetworkPolicy, which are tolerated. */
interface Tolerance extends SelectorOptions {
  readonly ranges: ReadonlySet<string>;
}

const PROTOCOLS = ["TCP", "UDP", "SCTP"];
const TYPES = ["Ingress", "Egress"];

const declaredErrors = declaredHook(
  { IPBlock: { fields: { cidr: { required: true } } } },
  (version) => `io.k8s.api.networking.${version}.NetworkPolicy`,
);

const specOf = ({ spec }: KubeObject) => (isObject(spec) ? spec : {}) as PolicySpec;

/** All NetworkPolicyPeers with their paths. */
function peersOf({ ingress = [], egress = [] }: PolicySpec): { peer: Peer; path: string }[] {
  const peers = (rules: readonly Rule[], member: "ingress" | "egress", side: "from" | "to") =>
    rules.flatMap((rule, index) =>
      (rule[side] ?? []).map((peer, at) => ({ peer, path: `spec.${member}[${index}].${side}[${at}]` })),
    );
  return [...peers(ingress, "ingress", "from"), ...peers(egress, "egress", "to")];
}

/** Defaults `spec.policyTypes`: Ingress, and Egress if there are egress rules. */
function setPolicyTypes({ spec }: KubeObject): void {
  if (!isObject(spec) || (Array.isArray(spec.policyTypes) && spec.policyTypes.length > 0)) return;
  spec.policyTypes = Array.isArray(spec.egress) && spec.egress.length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
}

function portErrors({ protocol, port, endPort }: Port, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (protocol !== undefined && !PROTOCOLS.includes(protocol)) {
    errors.push(notSupportedField(`${path}.protocol`, protocol, PROTOCOLS));
  }
  const atEnd = (text: string) => errors.push(invalidField(`${path}.endPort`, endPort, text));
  if (typeof port === "number") {
    pushInvalid(errors, `${path}.port`, port, portNumber(port));
    if (endPort === undefined) return errors;
    if (endPort < port) atEnd("must be greater than or equal to `port`");
    pushInvalid(errors, `${path}.endPort`, endPort, portNumber(endPort));
  } else if (port === undefined) {
    if (endPort !== undefined) atEnd("may not be specified when `port` is not specified");
  } else {
    if (endPort !== undefined) atEnd("may not be specified when `port` is non-numeric");
    pushInvalid(errors, `${path}.port`, port, portName(port));
  }
  return errors;
}

function blockErrors({ cidr = "", except = [] }: IpBlock, path: string, ranges: ReadonlySet<string>): FieldError[] {
  if (cidr === "") return [];
  const errors: FieldError[] = [];
  pushRangeErrors(errors, `${path}.cidr`, cidr, ranges);
  const block = parseLooseRange(cidr);
  if (!block) return errors;
  for (const [index, text] of except.entries()) {
    const itemPath = `${path}.except[${index}]`;
    pushRangeErrors(errors, itemPath, text, ranges);
    const inner = parseLooseRange(text);
    if (!inner) continue;
    const isInside =
      inner.address.length === block.address.length &&
      inner.bits > block.bits &&
      rangeAround(inner.address, block.bits).lowest === rangeAround(block.address, block.bits).lowest;
    if (!isInside) errors.push(invalidField(itemPath, text, "must be a strict subset of `cidr`"));
  }
  return errors;
}

function peerErrors(peer: Peer, path: string, tolerance: Tolerance): FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  const errors = [
    ...validateLabelSelector(podSelector, `${path}.podSelector`, tolerance),
    ...validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`, tolerance),
    ...(ipBlock ? blockErrors(ipBlock, `${path}.ipBlock`, tolerance.ranges) : []),
  ];
  const isSelecting = podSelector !== undefined || namespaceSelector !== undefined;
  if (!isSelecting && !ipBlock) errors.push(requiredField(path, "must specify a peer"));
  if (isSelecting && ipBlock) errors.push(forbiddenField(path, "may not specify both ipBlock and another peer"));
  return errors;
}

function ruleErrors(rule: Rule, path: string, side: "from" | "to", tolerance: Tolerance): FieldError[] {
  return [
    ...(rule.ports ?? []).flatMap((port, index) => portErrors(port, `${path}.ports[${index}]`)),
    ...(rule[side] ?? []).flatMap((peer, index) => peerErrors(peer, `${path}.${side}[${index}]`, tolerance)),
  ];
}

function specErrors(spec: PolicySpec, tolerance: Tolerance): FieldError[] {
  const { podSelector, ingress = [], egress = [], policyTypes = [] } = spec;
  const errors = [
    ...validateLabelSelector(podSelector, "spec.podSelector", tolerance),
    ...ingress.flatMap((rule, index) => ruleErrors(rule, `spec.ingress[${index}]`, "from", tolerance)),
    ...egress.flatMap((rule, index) => ruleErrors(rule, `spec.egress[${index}]`, "to", tolerance)),
  ];
  if (policyTypes.length > TYPES.length) {
    const text = "may not specify more than two policyTypes";
    return [...errors, invalidField("spec.policyTypes", policyTypes, text)];
  }
  for (const [index, type] of policyTypes.entries()) {
    if (!TYPES.includes(type)) errors.push(notSupportedField(`spec.policyTypes[${index}]`, type, TYPES));
  }
  return errors;
}

function toleranceFor(previous: KubeObject | undefined): Tolerance {
  if (!previous) return { ranges: new Set() };
  const spec = specOf(previous);
  const blocks = peersOf(spec).flatMap(({ peer }) => (peer.ipBlock ? [peer.ipBlock] : []));
  return {
    ranges: new Set(blocks.flatMap(({ cidr = "", except = [] }) => [cidr, ...except])),
    allowsInvalidValues: validateLabelSelector(spec.podSelector, "").length > 0,
  };
}

/** NetworkPolicy: allowed ingress and egress traffic of the selected pods. */
export const networkPolicyHooks: ResourceHooks = {
  setDefaults: setPolicyTypes,
  validate: (next, previous, context) => [
    ...specErrors(specOf(next), toleranceFor(previous)),
    ...declaredErrors(next, previous, context),
  ],
  warn: (next) =>
    peersOf(specOf(next)).flatMap(({ peer: { ipBlock }, path }) => {
      if (!ipBlock) return [];
      const { cidr = "", except = [] } = ipBlock;
      return [
        ...rangeWarnings(`${path}.ipBlock.cidr`, cidr),
        ...except.flatMap((text, index) => rangeWarnings(`${path}.ipBlock.except[${index}]`, text)),
      ];
    }),
};
