const COMMON = (
  "ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP " +
  "TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX"
).split(" ");

const numbered = (base: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${base}${i + 1}`);

/** The values of stopSignal on Linux, sorted. */
export const LINUX_SIGNALS: readonly string[] = [...COMMON, ...numbered("RTMIN+", 15), ...numbered("RTMAX-", 14)]
  .map((name) => `SIG${name}`)
  .sort();

/** The values of stopSignal on Windows, sorted. */
export const WINDOWS_SIGNALS: readonly string[] = ["SIGKILL", "SIGTERM"];
