import { type Command, Option } from "commander";
import { DEFAULT_MODES } from "../../auth/authorization/modes.ts";
import type { AuthorizationConfig } from "./config.ts";

/** What the flags of this file hold. */
export interface AuthorizationFlags {
  authorizationMode?: string[];
  authorizationConfig?: string;
  authorizationWebhookConfigFile?: string;
  authorizationWebhookVersion?: string;
  authorizationWebhookCacheAuthorizedTtl?: number;
  authorizationWebhookCacheUnauthorizedTtl?: number;
}

const words = (text: string): string[] => text.split(",").filter((word) => word !== "");

/** Adds the flags of kube-apiserver about who may do what. `duration` reads a span of time. */
export function addAuthorizationFlags(command: Command, duration: (text: string) => number): Command {
  return command
    .addOption(
      new Option(
        "--authorization-mode <modes>",
        "AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook: who says what callers may do, in order",
      )
        .argParser(words)
        .default(undefined, DEFAULT_MODES.join(",")),
    )
    .option("--authorization-config <file>", "AuthorizationConfiguration: the same, and more than one webhook")
    .option("--authorization-webhook-config-file <file>", "kubeconfig of the server that the mode Webhook asks")
    .option(
      "--authorization-webhook-version <version>",
      "version of what it is asked: v1 or v1beta1 (default: v1beta1)",
    )
    .addOption(
      new Option(
        "--authorization-webhook-cache-authorized-ttl <time>",
        "how long its answers are kept that allow something (default: 5m0s)",
      ).argParser(duration),
    )
    .addOption(
      new Option(
        "--authorization-webhook-cache-unauthorized-ttl <time>",
        "how long its other answers are kept (default: 30s)",
      ).argParser(duration),
    );
}

/** What the flags mean, and those of others. Throws, in kube-apiserver's words, when they contradict each other. */
export function takeAuthorizationFlags<Flags extends AuthorizationFlags>(
  flags: Flags,
): { authorization: AuthorizationConfig; rest: Omit<Flags, keyof AuthorizationFlags> } {
  const {
    authorizationMode,
    authorizationConfig: configFile,
    authorizationWebhookConfigFile: webhookFile,
    authorizationWebhookVersion: version,
    authorizationWebhookCacheAuthorizedTtl: authorizedMs,
    authorizationWebhookCacheUnauthorizedTtl: unauthorizedMs,
    ...rest
  } = flags;
  const others = [authorizationMode, webhookFile, version, authorizedMs, unauthorizedMs];
  if (configFile !== undefined && others.some((flag) => flag !== undefined)) {
    throw new Error(
      "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined",
    );
  }
  const modes = authorizationMode ?? DEFAULT_MODES;
  const asks = modes.includes("Webhook");
  if (asks && webhookFile === undefined) {
    throw new Error("authorization-mode Webhook's authorization config file not passed");
  }
  if (!asks && webhookFile !== undefined) {
    throw new Error("cannot specify --authorization-webhook-config-file without mode Webhook");
  }
  const webhook = webhookFile !== undefined && {
    configFile: webhookFile,
    version: version ?? "v1beta1",
    authorizedMs: authorizedMs ?? 300_000,
    unauthorizedMs: unauthorizedMs ?? 30_000,
  };
  return {
    authorization: { modes, ...(webhook && { webhook }), ...(configFile !== undefined && { configFile }) },
    rest,
  };
}
