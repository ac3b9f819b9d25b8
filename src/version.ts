declare const LOOPWRIGHT_VERSION: string;

/** Put in by the build. */
export const VERSION: string = typeof LOOPWRIGHT_VERSION === "string" ? LOOPWRIGHT_VERSION : "0.0.0-source";
