/** Its parts that are kept, in order, and its size in pixels. */
export interface CleanParts {
  parts: Buffer[]
  width: number
  height: number
}
