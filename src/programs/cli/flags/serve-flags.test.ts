import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Command } from "commander";
import { defaultConfig } from "../../server/config.ts";
import { flagsOf } from "./declared-flags.ts";
import { addServeFlags, configOf } from "./serve-flags.ts";

async function parse(...args: string[]) {
  const command = new Command().exitOverride().configureOutput({ outputError: () => {} });
  addServeFlags(command);
  return configOf(flagsOf(command.parse(args, { from: "user" })));
}

suite("the flags of the server", () => {
  test("have the defaults of the library, except for the port and the folder of certificates", async () => {
    assert.deepEqual(await parse(), { ...defaultConfig, securePort: 6443, certDir: "binnacle-data" });
  });

  test("set options of nested groups", async () => {
    const { audit } = await parse(
      ...["--audit-policy-file=p", "--audit-log-path=-", "--audit-log-maxsize=7", "--audit-log-truncate-enabled"],
      ...["--audit-webhook-mode=blocking-strict", "--audit-webhook-batch-throttle-enable=false"],
      ...["--audit-log-batch-max-wait=1m30s", "--audit-log-batch-throttle-qps=2.5"],
    );
    const { log, webhook } = defaultConfig.audit;
    assert.deepEqual(audit, {
      policyFile: "p",
      log: {
        ...{ ...log, path: "-", maxSizeMb: 7, truncate: { ...log.truncate, enabled: true } },
        batch: { ...log.batch, maxWaitMs: 90_000, throttleQps: 2.5 },
      },
      webhook: { ...webhook, mode: "blocking-strict", batch: { ...webhook.batch, throttleEnable: false } },
    });
  });

  test("collect repeated values as kube-apiserver does", async () => {
    const { serviceAccounts, admissionPlugins } = await parse(
      ...["--service-account-key-file=a", "--service-account-key-file", "b,c", "--service-account-issuer=x"],
      ...["--service-account-issuer=y", "--api-audiences=p,q", "--api-audiences=r"],
      ...["--enable-admission-plugins=A,B", "--enable-admission-plugins=C"],
    );
    assert.deepEqual(serviceAccounts, {
      ...defaultConfig.serviceAccounts,
      keyFiles: ["a", "b,c"],
      issuers: ["x", "y"],
      apiAudiences: ["p", "q", "r"],
    });
    assert.deepEqual(admissionPlugins.enabled, ["A", "B", "C"]);
  });

  test("build optional groups only if their main flag is given", async () => {
    const { authentication } = await parse("--requestheader-username-headers=X-Remote-User");
    assert.equal(authentication.frontProxy, undefined);
    const given = await parse(
      ...["--requestheader-client-ca-file=ca", "--requestheader-username-headers=X-Remote-User"],
      ...[
        "--oidc-issuer-url=https://i",
        "--oidc-client-id=c",
        "--oidc-required-claim=a=1",
        "--oidc-required-claim=b=2",
      ],
    );
    assert.deepEqual(given.authentication.frontProxy, {
      ...{ clientCaFile: "ca", usernameHeaders: ["X-Remote-User"] },
      ...{ allowedNames: [], uidHeaders: [], groupHeaders: [], extraHeaderPrefixes: [] },
    });
    assert.deepEqual(given.authentication.oidc, {
      ...{ issuerUrl: "https://i", clientId: "c", usernameClaim: "sub", usernamePrefix: "" },
      ...{ groupsClaim: "", groupsPrefix: "", signingAlgs: ["RS256"], requiredClaims: { a: "1", b: "2" } },
    });
  });

  test("build an etcd store from several flags", async () => {
    const { store } = await parse("--etcd-servers=http://a:2379,http://b:2379", "--etcd-cafile=ca.pem");
    assert.deepEqual(store, { type: "etcd", servers: ["http://a:2379", "http://b:2379"], caFile: "ca.pem" });
    const other = await parse("--etcd-servers=http://a:2379", "--etcd-transport=http2");
    assert.deepEqual(other.store, { type: "etcd", servers: ["http://a:2379"], transport: "http2" });
  });

  // Compat: kube-apiserver's messages.
  const conflicts: readonly (readonly [args: readonly string[], message: string])[] = [
    [["--requestheader-group-headers=a,"], 'empty value in "requestheader-group-headers"'],
    [
      ["--requestheader-uid-headers=X-Uid"],
      "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work",
    ],
    [
      ["--oidc-groups-claim=g"],
      "oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set",
    ],
    [
      ["--oidc-issuer-url=https://i", "--oidc-client-id=c", "--authentication-config=f"],
      "authentication-config file and oidc-* flags are mutually exclusive",
    ],
    [
      ["--authorization-config=f", "--authorization-webhook-version=v1"],
      "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined",
    ],
    [["--authorization-mode=RBAC,Webhook"], "authorization-mode Webhook's authorization config file not passed"],
    [
      ["--authorization-webhook-config-file=f"],
      "cannot specify --authorization-webhook-config-file without mode Webhook",
    ],
  ];
  for (const [args, message] of conflicts) {
    test(`rejects ${args.join(" ")}`, () => assert.rejects(parse(...args), { message }));
  }
});

suite("boolean flags", () => {
  const anonymous = async (...args: string[]) => (await parse(...args)).authentication.anonymous;

  test("are parsed as Go's strconv.ParseBool does", async () => {
    for (const text of ["1", "t", "T", "true", "TRUE", "True"]) {
      assert.equal(await anonymous(`--anonymous-auth=${text}`), true, text);
    }
    for (const text of ["0", "f", "F", "false", "FALSE", "False"]) {
      assert.equal(await anonymous(`--anonymous-auth=${text}`), false, text);
    }
    for (const text of ["yes", "on", "tRUE", "2", ""]) {
      await assert.rejects(anonymous(`--anonymous-auth=${text}`), /expected true or false/, text);
    }
  });

  test("may have no value, or one after a space", async () => {
    assert.equal(await anonymous(), undefined);
    assert.equal(await anonymous("--anonymous-auth"), true);
    assert.equal(await anonymous("--anonymous-auth", "false"), false);
    assert.equal(await anonymous("--anonymous-auth", "--secure-port=0"), true);
  });

  test("all share one parser", async () => {
    const command = new Command();
    addServeFlags(command);
    const switches = command.options.filter(({ optional }) => optional).map(({ long }) => long ?? "");
    assert.ok(switches.length >= 9, switches.join(" "));
    for (const flag of switches) {
      await parse(`${flag}=T`);
      await assert.rejects(parse(`${flag}=maybe`), /expected true/);
    }
  });
});
