import type { Attributes, Authorizer, Decision } from "../../base/api/attributes.ts";
import type { AccessRules, RuleResolver } from "../../base/api/identity.ts";
import { nodeOf } from "../../base/api/node-identity.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import { quote } from "../../base/go/quote.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import { getMember } from "../../base/util/members.ts";
import type { PolicyRule } from "../../kinds/types/rbac.ts";
import type { NodeGraph } from "./node-graph.ts";
import { CompiledRule, questionOf } from "./policy-rules.ts";

/** Name of the mode in `--authorization-mode`. */
export const NODE_MODE = "Node";

const ALLOW: Decision = { decision: "allow" };
const NO_OPINION: Decision = { decision: "noOpinion" };
const unless = (reason: string): Decision => ({ decision: "noOpinion", reason });

const NODE_LEASES = "kube-node-lease";
const OWN_OBJECT_VERBS = ["get", "create", "update", "patch", "delete"];
const SELECTING_VERBS = ["list", "watch"];
const RESOURCES_WITH_RULES: Readonly<Record<string, readonly string[]>> = {
  "": ["secrets", "configmaps", "persistentvolumeclaims", "persistentvolumes", "serviceaccounts", "nodes", "pods"],
  coordination: ["leases"],
  storage: ["volumeattachments", "csinodes"],
  resource: ["resourceclaims", "resourceslices"],
  certificates: ["podcertificaterequests"],
};

/**
 * The authorization mode Node: authorizes kubelets, which are the users `system:node:<name>` in the group
 * `system:nodes`. It allows or has no opinion. The admission plugin NodeRestriction limits what a node may change in
 * objects that it may write.
 */
export class NodeAuthorizer implements Authorizer, RuleResolver {
  readonly #graph: Pick<NodeGraph, "isRelated" | "loaded">;
  readonly #rules: readonly CompiledRule[];

  /** `rules` are those of the ClusterRole system:node. */
  constructor(graph: Pick<NodeGraph, "isRelated" | "loaded">, rules: readonly PolicyRule[]) {
    this.#graph = graph;
    this.#rules = rules.map((rule) => new CompiledRule(rule));
  }

  authorize(attributes: Attributes): Eventually<Decision> {
    const node = nodeOf(attributes.user);
    if (node === undefined) return NO_OPINION;
    if (node === "") return unless(`unknown node for user ${quote(attributes.user.name)}`);
    return this.#ofNode(node, attributes);
  }

  async #ofNode(node: string, attributes: Attributes): Promise<Decision> {
    const loading = attributes.isResourceRequest ? this.#graph.loaded() : undefined;
    if (loading !== undefined) await loading;
    const own = attributes.isResourceRequest ? this.#ofResource(node, attributes) : undefined;
    if (own !== undefined) return own;
    const question = questionOf(attributes);
    return this.#rules.some((rule) => rule.allows(question)) ? ALLOW : NO_OPINION;
  }

  async rulesFor(user: UserInfo): Promise<AccessRules> {
    const nothing = { resourceRules: [], nonResourceRules: [] };
    if (nodeOf(user) === undefined) return { ...nothing, incomplete: false };
    const evaluationError = "node authorizer does not support user rule resolution";
    return { ...nothing, incomplete: true, evaluationError };
  }

  /** The decision for resources of which a node may access only some objects. Undefined for all others. */
  #ofResource(node: string, attributes: Attributes): Decision | undefined {
    const { apiGroup, resource, subresource } = attributes;
    const label = apiGroup.split(".")[0] ?? "";
    if (!getMember(RESOURCES_WITH_RULES, label)?.includes(resource)) return undefined;
    switch (resource) {
      case "secrets":
      case "configmaps":
        return this.#read(node, attributes);
      case "persistentvolumeclaims":
        return subresource === "status" ? this.#writeStatus(node, attributes) : this.#get(node, attributes);
      case "serviceaccounts":
        return this.#serviceAccount(node, attributes);
      case "leases":
        return ownLease(node, attributes);
      case "csinodes":
        return ownCsiNode(node, attributes);
      case "resourceslices":
        return this.#slice(node, attributes);
      case "podcertificaterequests":
        return this.#certificateRequest(node, attributes);
      case "nodes":
        return ownNode(node, attributes);
      case "pods":
        return this.#pod(node, attributes);
      default:
        return this.#get(node, attributes);
    }
  }

  #related(node: string, { resource, namespace, name }: Attributes): Decision {
    if (name === "") return unless("No Object name found");
    if (this.#graph.isRelated(node, resource, namespace, name)) return ALLOW;
    return unless(`no relationship found between node '${node}' and this object`);
  }

  #get(node: string, attributes: Attributes): Decision {
    if (attributes.verb !== "get") return unless("can only get individual resources of this type");
    return attributes.subresource === "" ? this.#related(node, attributes) : unless("cannot get subresource");
  }

  #read(node: string, attributes: Attributes): Decision {
    const { verb, subresource, namespace } = attributes;
    if (verb !== "get" && !SELECTING_VERBS.includes(verb)) return unless("can only read resources of this type");
    if (subresource !== "") return unless("cannot read subresource");
    if (namespace === "") return unless("can only read namespaced object of this type");
    return this.#related(node, attributes);
  }

  #writeStatus(node: string, attributes: Attributes): Decision {
    const { verb } = attributes;
    // Compat: the message of `authorizeStatusUpdate` mentions get, although it is not allowed.
    if (verb !== "update" && verb !== "patch") return unless("can only get/update/patch this type");
    return this.#related(node, attributes);
  }

  #serviceAccount(node: string, attributes: Attributes): Decision {
    const { verb, subresource, name } = attributes;
    if (verb === "get" && subresource === "") return this.#read(node, attributes);
    if (verb !== "create" || name === "") return unless("can only create tokens for individual service accounts");
    if (subresource !== "token") return unless("can only create token subresource of serviceaccount");
    return this.#related(node, attributes);
  }

  #slice(node: string, attributes: Attributes): Decision {
    const { verb, subresource } = attributes;
    if (subresource !== "") return unless("cannot authorize ResourceSlice subresources");
    if (verb === "create") return ALLOW;
    if (OWN_OBJECT_VERBS.includes(verb)) return this.#related(node, attributes);
    if (SELECTING_VERBS.includes(verb) || verb === "deletecollection") {
      if (selectsNode(node, attributes)) return ALLOW;
      return unless("can only list/watch/deletecollection resourceslices with nodeName field selector");
    }
    const verbs = "get, watch, list, create, update, patch, delete, deletecollection";
    return unless(`only the following verbs are allowed for a ResourceSlice: ${verbs}`);
  }

  #certificateRequest(node: string, attributes: Attributes): Decision {
    const { verb, subresource } = attributes;
    // Compat: the message of `authorizePodCertificateRequest` says "status" for every subresource.
    if (subresource !== "") return unless("nodes may not access the status subresource of PodCertificateRequests");
    if (verb === "create") return ALLOW;
    if (verb === "get") return this.#related(node, attributes);
    if (!SELECTING_VERBS.includes(verb)) return unless(`nodes may not ${verb} podcertificaterequests`);
    if (selectsNode(node, attributes)) return ALLOW;
    return unless("can only list/watch podcertificaterequests with nodeName field selector");
  }

  #pod(node: string, attributes: Attributes): Decision {
    const { verb, subresource, name } = attributes;
    if (subresource === "status") return verb === "update" || verb === "patch" ? ALLOW : NO_OPINION;
    if (subresource === "eviction") return verb === "create" ? ALLOW : NO_OPINION;
    if (subresource !== "") return NO_OPINION;
    if (verb === "get") return this.#get(node, attributes);
    if (verb === "create" || verb === "delete") return ALLOW;
    if (!SELECTING_VERBS.includes(verb)) return NO_OPINION;
    if (selectsNode(node, attributes)) return ALLOW;
    if (name !== "") return this.#related(node, attributes);
    return unless("can only list/watch pods with spec.nodeName field selector");
  }
}

function selectsNode(node: string, { fieldSelector = [] }: Attributes): boolean {
  return fieldSelector.some(({ field, isEqual, value }) => field === "spec.nodeName" && isEqual && value === node);
}

function ownLease(node: string, { verb, namespace, name }: Attributes): Decision {
  if (!OWN_OBJECT_VERBS.includes(verb)) return unless("can only get, create, update, patch, or delete a node lease");
  if (namespace !== NODE_LEASES) return unless(`can only access leases in the ${quote(NODE_LEASES)} system namespace`);
  if (verb === "create" || name === node) return ALLOW;
  return unless("can only access node lease with the same name as the requesting node");
}

function ownCsiNode(node: string, { verb, subresource, name }: Attributes): Decision {
  if (subresource === "status") return unless("CSINode status access requires CSIVolumeHealth feature");
  if (subresource !== "") return unless("cannot authorize CSINode subresources");
  if (!OWN_OBJECT_VERBS.includes(verb)) return unless("can only get, create, update, patch, or delete a CSINode");
  if (verb === "create" || name === node) return ALLOW;
  return unless("can only access CSINode with the same name as the requesting node");
}

function ownNode(node: string, { verb, subresource, name }: Attributes): Decision {
  if (subresource === "status") return verb === "update" || verb === "patch" ? ALLOW : NO_OPINION;
  if (subresource !== "") return NO_OPINION;
  if (verb === "create" || verb === "update" || verb === "patch") return ALLOW;
  if (verb !== "get" && !SELECTING_VERBS.includes(verb)) return NO_OPINION;
  if (name === node) return ALLOW;
  const wanted = name === "" ? "all nodes" : `'${name}'`;
  return unless(`node '${node}' cannot read ${wanted}, only its own Node object`);
}
