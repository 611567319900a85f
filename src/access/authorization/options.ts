import { type ConfigOf, group, option, optionalGroup, requiredOption } from "../../base/options/option.ts";
import { duration, file, list, text } from "../../base/options/value-types.ts";

const webhook = optionalGroup(
  {
    configFile: requiredOption(
      "authorization-webhook-config-file",
      file(),
      "kubeconfig of the webhook of mode Webhook",
    ),
    version: option(
      "authorization-webhook-version",
      text("version"),
      "SubjectAccessReview API version to send: v1 or v1beta1",
      { default: "v1beta1" },
    ),
    authorizedMs: option(
      "authorization-webhook-cache-authorized-ttl",
      duration,
      "how long the webhook's allowing responses are cached",
      { default: 300_000 },
    ),
    unauthorizedMs: option(
      "authorization-webhook-cache-unauthorized-ttl",
      duration,
      "how long the webhook's other responses are cached",
      { default: 30_000 },
    ),
  },
  { key: "configFile" },
);

const DEFAULT_MODES: readonly string[] = ["Node", "RBAC"];

/** Options about authorization. Compat: conflicts have the messages of `BuiltInAuthorizationOptions.Validate`. */
export const authorizationOptions = {
  authorization: group(
    {
      modes: option(
        "authorization-mode",
        list("modes"),
        "authorizers in order: AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook",
        { default: DEFAULT_MODES },
      ),
      configFile: option(
        "authorization-config",
        file(),
        "AuthorizationConfiguration: authorizers in order, instead of all other authorization flags",
      ),
      webhook,
    },
    ({ configFile, modes, webhook: called }) => {
      if (configFile !== undefined) {
        return modes === undefined && called === undefined
          ? undefined
          : "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined";
      }
      const isCalled = (modes ?? DEFAULT_MODES).includes("Webhook");
      const hasFile = called?.configFile !== undefined;
      if (isCalled === hasFile) return undefined;
      return isCalled
        ? "authorization-mode Webhook's authorization config file not passed"
        : "cannot specify --authorization-webhook-config-file without mode Webhook";
    },
  ),
};

/** Who decides what callers may do: `--authorization-mode` with its webhook, or a file. */
export type AuthorizationConfig = ConfigOf<typeof authorizationOptions>["authorization"];
