import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { cacheFolder, isMissing, requireTool } from "../../support/tools.ts";

/**
 * `npm run compare kube-api-test`: a JUnit suite with fabric8's kube-api-test, which starts an etcd and a kube-apiserver as
 * envtest does; with the real ones and with those of `binnacle envtest`. Ends with 1 when a test of it fails with ours.
 */
const VERSION = "1.37.1";
const cli = path.join(import.meta.dirname, "..", "..", "..", "src", "cli.ts");

/** A folder as kube-api-test looks for programs: `k8s/VERSION-PLATFORM`. */
function layOut(folder: string, programs: string): string {
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  mkdirSync(path.join(folder, "k8s"), { recursive: true });
  symlinkSync(programs, path.join(folder, "k8s", `${VERSION}-${platform}`));
  return folder;
}

function runSuite(folder: string): { readonly code: number; readonly report: string } {
  const target = path.join(folder, "target");
  const pom = path.join(import.meta.dirname, "pom.xml");
  const { status } = spawnSync("mvn", ["-q", "-B", "-f", pom, "test", `-Dsuite.target=${target}`], {
    env: { ...process.env, KUBE_API_TEST_DIR: folder, KUBE_API_TEST_API_SERVER_VERSION: VERSION },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const file = path.join(target, "surefire-reports", "suite.ServerTest.txt");
  const [line = "no report"] = readFileSync(file, "utf8").match(/^Tests run.*$/m) ?? [];
  return { code: status ?? 1, report: line };
}

const missing = (["java", "mvn", "etcd", "kube-apiserver", "kubectl"] as const).filter(isMissing);
if (missing.length > 0) {
  process.stdout.write(`not run: ${missing.join(", ")} is missing\n`);
} else {
  const folder = mkdtempSync(path.join(tmpdir(), "binnacle-kube-api-test-"));
  try {
    // It wants a kubectl beside the two programs.
    const PATH = `${path.dirname(requireTool("kubectl"))}${path.delimiter}${process.env.PATH}`;
    const assets = execFileSync(process.execPath, [cli, "envtest"], {
      encoding: "utf8",
      env: { ...process.env, PATH },
    });
    const ours = runSuite(layOut(path.join(folder, "binnacle"), assets.trim()));
    process.stdout.write(`Binnacle: ${ours.report}\n`);
    const theirs = runSuite(layOut(path.join(folder, "real"), path.join(cacheFolder(), "bin")));
    process.stdout.write(`kube-apiserver: ${theirs.report}\n`);
    process.exitCode = ours.code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
