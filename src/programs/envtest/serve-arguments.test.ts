import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { serveArguments } from "./serve-arguments.ts";

const known = new Set(
  "etcd-servers etcd-cafile etcd-prefix cert-dir audit-log-path allow-privileged authorization-mode service-account-issuer feature-gates store".split(
    " ",
  ),
);
const memory = { known, hasNoStore: true, controllers: undefined, nodes: undefined, cwd: "/suite" };
const servers = ["etcd-servers", "http://127.0.0.1:1"] as const;
const rbac = ["authorization-mode", "RBAC"] as const;

suite("translating a kube-apiserver command line to serve", () => {
  test("keeps objects in memory if there is no store behind --etcd-servers", () => {
    const { args } = serveArguments([servers, ["etcd-cafile", "f"], ["etcd-prefix", "/p"], rbac], memory);
    assert.deepEqual(args, [
      "--etcd-prefix=/p",
      "--authorization-mode=RBAC",
      "--store=memory",
      "--custom-objects=defined",
      "--controllers=none",
    ]);
  });

  test("uses an etcd, and joins lists", () => {
    const given = [servers, ["etcd-servers", "b"], ["authorization-mode", "Node"], rbac] as const;
    const { args } = serveArguments(given, {
      known,
      hasNoStore: false,
      controllers: "*",
      nodes: undefined,
      cwd: "/suite",
    });
    assert.deepEqual(args, [
      "--etcd-servers=http://127.0.0.1:1,b",
      "--authorization-mode=Node,RBAC",
      "--custom-objects=defined",
      "--controllers=*",
    ]);
  });

  test("simulates a cluster, whose nodes need the Node authorizer", () => {
    const given = [
      ["etcd-servers", "http://127.0.0.1:1"],
      ["authorization-mode", "RBAC"],
    ] as const;
    const { args } = serveArguments(given, { ...memory, nodes: "2" });
    for (const arg of ["--authorization-mode=Node,RBAC", "--controllers=*", "--scheduler", "--simulated-nodes=2"]) {
      assert.ok(args.includes(arg), arg);
    }
  });

  test("repeats repeatable flags, and uses the last value of others", () => {
    const given = [servers, rbac, ["service-account-issuer", "a"], ["service-account-issuer", "b"]] as const;
    const { args } = serveArguments([...given, ["etcd-prefix", "/a"], ["etcd-prefix", "/b"]], memory);
    assert.deepEqual(
      args.filter((arg) => /issuer|prefix/.test(arg)),
      ["--service-account-issuer=a", "--service-account-issuer=b", "--etcd-prefix=/b"],
    );
  });

  test("skips flags without an effect, and reports each once", () => {
    const given = [
      servers,
      rbac,
      ["profiling", "false"],
      ["v", "4"],
      ["v", "5"],
      ["allow-privileged", "false"],
    ] as const;
    const { args, ignored } = serveArguments(given, memory);
    assert.deepEqual(ignored, ["--profiling", "--v", "--allow-privileged"]);
    assert.ok(!args.some((arg) => /profiling|privileged|--v/.test(arg)));
  });

  test("without --authorization-mode allows everything to authenticated users, and disables anonymous access", () => {
    const { args } = serveArguments([servers], memory);
    assert.ok(args.includes("--authorization-mode=AlwaysAllow"));
    assert.ok(args.includes("--anonymous-auth=false"));
  });

  test("resolves relative paths against the folder of kube-apiserver", () => {
    const { args } = serveArguments([servers, rbac, ["cert-dir", "certs"], ["audit-log-path", "-"]], memory);
    assert.ok(args.includes("--cert-dir=/suite/certs"));
    assert.ok(args.includes("--audit-log-path=-"));
  });

  test("fails without --etcd-servers", () => {
    assert.throws(() => serveArguments([rbac], memory), { message: "--etcd-servers must be specified" });
  });

  const gates = (text: string) => serveArguments([servers, rbac, ["feature-gates", text]], memory);

  test("switches known gates and ignores other gates of the release", () => {
    const { args, ignored } = gates("kube:ContainerStopSignals=true,ComponentFlagz=false,AllAlpha=true");
    assert.ok(args.includes("--feature-gates=ContainerStopSignals=true"));
    assert.deepEqual(ignored, ["--feature-gates=ComponentFlagz=false", "--feature-gates=AllAlpha=true"]);
  });

  test("rejects other gates with kube-apiserver's message", () => {
    assert.throws(() => gates("Foo=true"), { message: "unrecognized feature gate: Foo" });
    assert.throws(() => gates("Foo"), { message: "missing bool value for Foo" });
    assert.throws(() => gates("wardle:Foo=true"), { message: "component not registered: wardle" });
  });
});
