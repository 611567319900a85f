import { type Command, Option } from "commander";
import type { AccountTokenConfig } from "./config.ts";
import { isOn } from "./switch-flag.ts";

/** What the flags of service-account tokens were set to. */
export interface AccountTokenFlags {
  readonly serviceAccountSigningKeyFile?: string;
  readonly serviceAccountKeyFile?: string[];
  readonly serviceAccountIssuer?: string[];
  readonly apiAudiences?: string[];
  readonly serviceAccountMaxTokenExpiration: number;
  readonly serviceAccountExtendTokenExpiration: boolean;
  readonly serviceAccountLookup: boolean;
  readonly serviceAccountJwksUri?: string;
}

const each = (text: string, before: readonly string[] = []): string[] => [...before, text];

/** Adds the flags, under kube-apiserver's names. `duration` reads a span of time in milliseconds. */
export function addAccountTokenFlags(
  command: Command,
  defaults: AccountTokenConfig,
  duration: (text: string) => number,
): Command {
  return command
    .option("--service-account-signing-key-file <file>", "private key that signs tokens of service accounts")
    .addOption(
      new Option(
        "--service-account-key-file <file>",
        "keys that tokens of service accounts are verified with; may be repeated",
      ).argParser(each),
    )
    .addOption(
      new Option("--service-account-issuer <url>", "issuer of tokens; may be repeated, the first signs")
        .argParser(each)
        .default(undefined, defaults.issuers.join(", ")),
    )
    .addOption(
      new Option("--api-audiences <names>", "audiences of tokens that are meant for this server")
        .argParser((text, before: readonly string[] = []) => [...before, ...text.split(",")])
        .default(undefined, "the issuers"),
    )
    .addOption(
      new Option("--service-account-max-token-expiration <time>", "longest life of a new token, 0 for no limit")
        .argParser(duration)
        .default(defaults.maxTokenExpirationMs, "0s"),
    )
    .addOption(
      new Option(
        "--service-account-extend-token-expiration [on]",
        "tokens that are mounted by admission are good for a year",
      )
        .argParser(isOn)
        .preset("true")
        .default(defaults.extendTokenExpiration),
    )
    .addOption(
      new Option("--service-account-lookup [on]", "tokens in Secrets are good only while the Secret is there")
        .argParser(isOn)
        .preset("true")
        .default(defaults.lookup),
    )
    .option("--service-account-jwks-uri <url>", "where the discovery document says that the keys are");
}

/** The configuration that the flags describe. */
export function serviceAccountsOf(flags: AccountTokenFlags, defaults: AccountTokenConfig): AccountTokenConfig {
  return {
    signingKeyFile: flags.serviceAccountSigningKeyFile,
    keyFiles: flags.serviceAccountKeyFile ?? defaults.keyFiles,
    issuers: flags.serviceAccountIssuer ?? defaults.issuers,
    apiAudiences: flags.apiAudiences ?? defaults.apiAudiences,
    maxTokenExpirationMs: flags.serviceAccountMaxTokenExpiration,
    extendTokenExpiration: flags.serviceAccountExtendTokenExpiration,
    lookup: flags.serviceAccountLookup,
    jwksUri: flags.serviceAccountJwksUri,
  };
}
