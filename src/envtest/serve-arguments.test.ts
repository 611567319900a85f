import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { serveArguments } from "./serve-arguments.ts";

const known = new Set(
  "etcd-servers etcd-cafile etcd-prefix cert-dir audit-log-path allow-privileged authorization-mode service-account-issuer feature-gates store".split(
    " ",
  ),
);
const memory = { known, hasNoStore: true, controllers: undefined, cwd: "/suite" };
const servers = ["etcd-servers", "http://127.0.0.1:1"] as const;
const rbac = ["authorization-mode", "RBAC"] as const;

suite("a command line of kube-apiserver becomes one of serve", () => {
  test("without a store behind --etcd-servers, objects are kept in memory", () => {
    const { args } = serveArguments([servers, ["etcd-cafile", "f"], ["etcd-prefix", "/p"], rbac], memory);
    assert.deepEqual(args, [
      "--etcd-prefix=/p",
      "--authorization-mode=RBAC",
      "--store=memory",
      "--custom-objects=defined",
      "--controllers=none",
    ]);
  });

  test("an etcd is used, and lists add up", () => {
    const given = [servers, ["etcd-servers", "b"], ["authorization-mode", "Node"], rbac] as const;
    const { args } = serveArguments(given, { known, hasNoStore: false, controllers: "*", cwd: "/suite" });
    assert.deepEqual(args, [
      "--etcd-servers=http://127.0.0.1:1,b",
      "--authorization-mode=Node,RBAC",
      "--custom-objects=defined",
      "--controllers=*",
    ]);
  });

  test("flags that may be repeated stay so, others have their last value", () => {
    const given = [servers, rbac, ["service-account-issuer", "a"], ["service-account-issuer", "b"]] as const;
    const { args } = serveArguments([...given, ["etcd-prefix", "/a"], ["etcd-prefix", "/b"]], memory);
    assert.deepEqual(
      args.filter((arg) => /issuer|prefix/.test(arg)),
      ["--service-account-issuer=a", "--service-account-issuer=b", "--etcd-prefix=/b"],
    );
  });

  test("what has no meaning here is left out, and told once", () => {
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

  test("without --authorization-mode everybody who is known may do everything, and nobody is anonymous", () => {
    const { args } = serveArguments([servers], memory);
    assert.ok(args.includes("--authorization-mode=AlwaysAllow"));
    assert.ok(args.includes("--anonymous-auth=false"));
  });

  test("relative paths begin where kube-apiserver was started", () => {
    const { args } = serveArguments([servers, rbac, ["cert-dir", "certs"], ["audit-log-path", "-"]], memory);
    assert.ok(args.includes("--cert-dir=/suite/certs"));
    assert.ok(args.includes("--audit-log-path=-"));
  });

  test("without --etcd-servers it does not start", () => {
    assert.throws(() => serveArguments([rbac], memory), { message: "--etcd-servers must be specified" });
  });

  const gates = (text: string) => serveArguments([servers, rbac, ["feature-gates", text]], memory);

  test("gates that can be switched are, others of the release are ignored", () => {
    const { args, ignored } = gates("kube:ContainerStopSignals=true,ComponentFlagz=false,AllAlpha=true");
    assert.ok(args.includes("--feature-gates=ContainerStopSignals=true"));
    assert.deepEqual(ignored, ["--feature-gates=ComponentFlagz=false", "--feature-gates=AllAlpha=true"]);
  });

  test("other gates are refused in kube-apiserver's words", () => {
    assert.throws(() => gates("Foo=true"), { message: "unrecognized feature gate: Foo" });
    assert.throws(() => gates("Foo"), { message: "missing bool value for Foo" });
    assert.throws(() => gates("wardle:Foo=true"), { message: "component not registered: wardle" });
  });
});
