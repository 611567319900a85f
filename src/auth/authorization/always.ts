import type { Authorizer } from "../../api/attributes.ts";
import type { RuleResolver } from "../../api/identity.ts";

/** The authorization mode AlwaysAllow: whoever is known may do everything, and is told so. */
export const alwaysAllow: Authorizer & RuleResolver = {
  authorize: async () => ({ decision: "allow" }),
  rulesFor: async () => ({
    resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
    nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
    incomplete: false,
  }),
};

/** The authorization mode AlwaysDeny: nobody may do anything, unless another authorizer allows it. */
export const alwaysDeny: Authorizer & RuleResolver = {
  authorize: async () => ({ decision: "noOpinion", reason: "Everything is forbidden." }),
  rulesFor: async () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
};
