/** How the line in `origin` starts, with its format; the id of the folder follows. Alone, because `loop list` needs only this. */
export const ORIGIN_START = "loopwright 2 ";
