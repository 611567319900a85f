import type { Authorizer } from "../../base/api/attributes.ts";
import type { RuleResolver } from "../../base/api/identity.ts";

/** The authorization mode AlwaysAllow: allows everything. */
export const alwaysAllow: Authorizer & RuleResolver = {
  authorize: async () => ({ decision: "allow" }),
  rulesFor: async () => ({
    resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
    nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
    incomplete: false,
  }),
};

/** The authorization mode AlwaysDeny: allows nothing, but other authorizers may. */
export const alwaysDeny: Authorizer & RuleResolver = {
  authorize: async () => ({ decision: "noOpinion", reason: "Everything is forbidden." }),
  rulesFor: async () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
};
