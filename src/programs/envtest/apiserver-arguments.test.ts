import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readArguments } from "./apiserver-arguments.ts";

/** The errors of kube-apiserver 1.37.1. */
const refused: readonly (readonly [args: readonly string[], text: string])[] = [
  [["--nonsense"], "unknown flag: --nonsense"],
  [["--nonsense=3"], "unknown flag: --nonsense"],
  [["--insecure-port=0"], "unknown flag: --insecure-port"],
  [["-x"], "unknown shorthand flag: 'x' in -x"],
  [["-hz"], "unknown shorthand flag: 'z' in -z"],
  [["---x"], "bad flag syntax: ---x"],
  [["--=x"], "bad flag syntax: --=x"],
  [["extra"], '"kube-apiserver" does not take any arguments, got ["extra"]'],
  [["-v", "2", "x"], '"kube-apiserver" does not take any arguments, got ["x"]'],
  [["--", "x"], '"kube-apiserver" does not take any arguments, got ["x"]'],
  [["--audit-log-path"], "flag needs an argument: --audit-log-path"],
  [["-v"], "flag needs an argument: 'v' in -v"],
  [
    ["--secure-port=abc"],
    'invalid argument "abc" for "--secure-port" flag: strconv.ParseInt: parsing "abc": invalid syntax',
  ],
  [
    ["--secure-port=99999999999999999999"],
    'invalid argument "99999999999999999999" for "--secure-port" flag: strconv.ParseInt: parsing "99999999999999999999": value out of range',
  ],
  [
    ["--allow-privileged=bla"],
    'invalid argument "bla" for "--allow-privileged" flag: strconv.ParseBool: parsing "bla": invalid syntax',
  ],
  [["--request-timeout=bla"], 'invalid argument "bla" for "--request-timeout" flag: time: invalid duration "bla"'],
  [
    ["--goaway-chance=x"],
    'invalid argument "x" for "--goaway-chance" flag: strconv.ParseFloat: parsing "x": invalid syntax',
  ],
  [["--advertise-address=bla"], 'invalid argument "bla" for "--advertise-address" flag: failed to parse IP: "bla"'],
  [["--v=x"], 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax'],
  [["-vx"], 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax'],
  [
    ["--kubelet-port=x"],
    'invalid argument "x" for "--kubelet-port" flag: strconv.ParseUint: parsing "x": invalid syntax',
  ],
  [["--help=x"], 'invalid argument "x" for "-h, --help" flag: strconv.ParseBool: parsing "x": invalid syntax'],
  [["--version=x"], 'invalid argument "x" for "--version" flag: strconv.ParseBool: parsing "x": invalid syntax'],
  [
    ["--allow-metric-labels=x"],
    'invalid argument "x" for "--allow-metric-labels" flag: x must be formatted as key=value',
  ],
  [["--etcd_servers=x", "--nope"], "unknown flag: --nope"],
  [["--help", "--nope"], "unknown flag: --nope"],
  [["--max-requests-inflight=0x10", "--nope"], "unknown flag: --nope"],
];

suite("kube-apiserver's command line", () => {
  for (const [args, text] of refused) {
    test(`rejects ${args.join(" ")} like kube-apiserver`, () => {
      assert.throws(() => readArguments(args), { message: text });
    });
  }

  test("reads flags with an equals sign, with a space, with underscores and short", () => {
    const args = ["--etcd-servers=a", "--cert_dir", "d", "--allow-privileged", "-v4", "--profiling=false", "-v", "5"];
    assert.deepEqual(readArguments(args).flags, [
      ["etcd-servers", "a"],
      ["cert-dir", "d"],
      ["allow-privileged", "true"],
      ["v", "4"],
      ["profiling", "false"],
      ["v", "5"],
    ]);
  });

  test("help and version are not flags of the server", () => {
    assert.deepEqual(readArguments(["--help"]), { flags: [], wantsHelp: true, version: undefined });
    assert.deepEqual(readArguments(["-h", "x"]), { flags: [], wantsHelp: true, version: undefined });
    assert.deepEqual(readArguments(["--version=raw"]), { flags: [], wantsHelp: false, version: "raw" });
  });
});
