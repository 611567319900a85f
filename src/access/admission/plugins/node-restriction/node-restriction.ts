import type { Authorizer } from "../../../../base/api/attributes.ts";
import { nodeOf } from "../../../../base/api/node-identity.ts";
import { quote } from "../../../../base/go/quote.ts";
import type { ObjectAccess } from "../../../../resources/model/definition.ts";
import { isInGroup, refusal } from "../../matches.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../plugin.ts";
import type { NodeRule } from "./node-request.ts";
import { admitNode } from "./node-rules.ts";
import { admitClaim, admitCsiNode, admitLease, admitResourceSlice, admitSigningRequest } from "./own-object-rules.ts";
import { admitPodCertificateRequest } from "./pod-certificate-rules.ts";
import { admitPod } from "./pod-rules.ts";
import { admitToken } from "./token-rules.ts";

const RULES: readonly { readonly group: string; readonly plural: string; readonly rule: NodeRule }[] = [
  { group: "", plural: "pods", rule: admitPod },
  { group: "", plural: "nodes", rule: admitNode },
  { group: "", plural: "persistentvolumeclaims", rule: admitClaim },
  { group: "", plural: "serviceaccounts", rule: admitToken },
  { group: "certificates.k8s.io", plural: "podcertificaterequests", rule: admitPodCertificateRequest },
  { group: "coordination.k8s.io", plural: "leases", rule: admitLease },
  { group: "storage.k8s.io", plural: "csinodes", rule: admitCsiNode },
  { group: "resource.k8s.io", plural: "resourceslices", rule: admitResourceSlice },
  { group: "certificates.k8s.io", plural: "certificatesigningrequests", rule: admitSigningRequest },
];

/**
 * NodeRestriction: limits what kubelets may change. Requests of other users are not affected. Compat: upstream's plugin
 * only has `Admit`, so it rejects before anything is validated.
 */
export function nodeRestriction(access: ObjectAccess, authorizer: Authorizer): AdmissionPlugin {
  return {
    name: "NodeRestriction",
    handles: ({ operation, user }) => operation !== "CONNECT" && nodeOf(user) !== undefined,
    async mutate(request) {
      const node = nodeOf(request.user);
      if (node === undefined) return;
      if (node === "") throw refusal(request, `could not determine node from user ${quote(request.user.name)}`);
      await ruleOf(request)?.({ node, request, access, authorizer });
    },
  };
}

function ruleOf({ resource: { definition } }: AdmissionRequest): NodeRule | undefined {
  return RULES.find(({ group, plural }) => definition.plural === plural && isInGroup(definition, group))?.rule;
}
