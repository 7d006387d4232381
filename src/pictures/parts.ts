/** Its parts that are kept, in order, its size in pixels, and how many frames it has: one where it does not move. */
export interface CleanParts {
  parts: Buffer[]
  width: number
  height: number
  frames: number
}
