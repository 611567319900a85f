import path from "node:path";
import { Command } from "commander";
import { addServeFlags } from "../../src/commands/serve-flags.ts";
import { completeConfig } from "../../src/server/library/options.ts";
import { declarationOf, type Member } from "./declarations.ts";
import { code, head, table } from "./markdown.ts";

const source = path.join(import.meta.dirname, "..", "..", "src");

/** Where the members of each group of options are declared. */
const GROUPS: readonly (readonly [prefix: string, file: string, declaration: string])[] = [
  ["", "server/config.ts", "Config"],
  ["serviceAccounts.", "server/config.ts", "AccountTokenConfig"],
  ["authentication.", "server/authentication/config.ts", "AuthenticationConfig"],
  ["authentication.oidc.", "server/authentication/config.ts", "OidcFlags"],
  ["authorization.", "server/authorization/config.ts", "AuthorizationConfig"],
  ["admission.", "server/admission/prepare-admission.ts", "AdmissionConfig"],
  ["connect.", "server/connect/config.ts", "ConnectConfig"],
  ["audit.", "audit/options.ts", "AuditConfig"],
  ["audit.log.", "audit/options.ts", "AuditLogConfig"],
  ["audit.log.", "audit/options.ts", "BackendConfig"],
  ["audit.webhook.", "audit/options.ts", "AuditWebhookConfig"],
  ["audit.webhook.", "audit/options.ts", "BackendConfig"],
];

/** Groups of options that stand in another row of their own, member by member. */
const isGroup = (key: string): boolean => GROUPS.some(([prefix]) => prefix === `${key}.`);

/** What `--help` says of the flag that sets the same. */
function flagTexts(): ReadonlyMap<string, { readonly flag: string; readonly text: string }> {
  const command = new Command();
  addServeFlags(command);
  return new Map(
    command.options.map(({ long = "", description }) => [
      long.slice(2).replaceAll("-", ""),
      { flag: long, text: description },
    ]),
  );
}

/** Flags whose names the rule below does not find, without dashes; empty: none. */
const FLAG_OF: Readonly<Record<string, string>> = {
  compactionIntervalMs: "etcdcompactioninterval",
  aggregatorRouting: "enableaggregatorrouting",
  shutdownDelayMs: "shutdowndelayduration",
  "admission.functionFiles": "admission",
  "admission.configFile": "admissioncontrolconfigfile",
  "connect.handlers": "",
  "connect.handlersFile": "handlers",
  "serviceAccounts.apiAudiences": "apiaudiences",
  "serviceAccounts.keyFiles": "serviceaccountkeyfile",
  "serviceAccounts.issuers": "serviceaccountissuer",
  "authentication.anonymous": "anonymousauth",
  "authentication.bootstrapTokens": "enablebootstraptokenauth",
  "authentication.configFile": "authenticationconfig",
  "authentication.oidc.requiredClaims": "oidcrequiredclaim",
  "authorization.configFile": "authorizationconfig",
  "authorization.modes": "authorizationmode",
  "audit.log.maxAgeDays": "auditlogmaxage",
  "audit.log.maxBackups": "auditlogmaxbackup",
  "audit.log.maxSizeMb": "auditlogmaxsize",
};

/** How the flags of a group begin. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  "serviceAccounts.": "serviceaccount",
  "authentication.oidc.": "oidc",
  "connect.": "",
};

function flagOf(key: string, flags: ReturnType<typeof flagTexts>) {
  const group = Object.keys(BEGINNINGS).find((prefix) => key.startsWith(prefix)) ?? "";
  const words = `${BEGINNINGS[group] ?? ""}${key.slice(group.length).replaceAll(".", "").replace(/Ms$/, "")}`;
  return flags.get(FLAG_OF[key] ?? words.toLowerCase());
}

function valueAt(value: unknown, key: string): unknown {
  return key.split(".").reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], value);
}

function rowsOf(prefix: string, members: readonly Member[], flags: ReturnType<typeof flagTexts>): string[][] {
  const config = completeConfig({});
  return members.flatMap(({ name, text, comment }) => {
    const key = `${prefix}${name}`;
    if (isGroup(key)) return [];
    const value = valueAt(config, key);
    const type = text.slice(text.indexOf(":") + 2).replaceAll("readonly ", "");
    const flag = flagOf(key, flags);
    const words = comment || (flag?.text ?? "");
    return [
      [code(key), code(type), value === undefined ? "" : code(JSON.stringify(value)), words, code(flag?.flag ?? "")],
    ];
  });
}

/** The text of docs/reference/configuration.md. */
export function configurationPage(): string {
  const flags = flagTexts();
  const rows = GROUPS.flatMap(([prefix, file, name]) =>
    rowsOf(prefix, declarationOf(path.join(source, file), name).members, flags),
  );
  const own = declarationOf(path.join(source, "server/library/options.ts"), "ServerOptions").members;
  return [
    head(
      "Configuration",
      "The options of `startServer` of the library, all of which may be left out, and the flag of `binnacle serve` that sets the same. [flags.md](flags.md) has the flags, and `config` of `startControlPlane` takes most of these, too ([library.md](../library.md)).",
    ),
    table(["option", "type", "default", "what it does", "flag"], rows),
    "Only in the library:",
    "",
    table(
      ["option", "type", "what it does"],
      own.map(({ name, text, comment }) => [code(name), code(text.slice(text.indexOf(":") + 2)), comment]),
    ),
  ].join("\n");
}
