import type { TokenIssuer } from "../../../base/api/token-issuer.ts";
import type { Actions } from "../../../resources/model/actions.ts";
import { builtInActions } from "./all.ts";

/** Returns the claims instead of signing them. */
export const testIssuer: TokenIssuer = {
  issuer: "https://issuer",
  audiences: ["api"],
  maxExpirationSeconds: 0,
  extendsExpiration: true,
  sign: (claims) => JSON.stringify(claims),
};

/** The actions of built-in kinds on a machine without other components. */
export const testActions: Actions = builtInActions(
  async () => ({ isHealthy: false, message: "no component runs" }),
  testIssuer,
  () => ({
    authorizer: { authorize: async () => ({ decision: "allow" }) },
    heldRules: async () => ({ rules: [], missing: [] }),
    rulesOfRole: async () => [],
  }),
);
