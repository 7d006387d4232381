export interface System {
  /** The version of Node; this one's by default. */
  node?: string
  /** The version of the C library, '' where it is no glibc; this system's by default. */
  glibc?: string
}

/** Put before a script: this Node, which takes itself and the system's C library for those that are given. */
export function nodeOn({ node = process.versions.node, glibc }: System): string[] {
  const preload = `
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } })
    const glibc = ${JSON.stringify(glibc)}
    if (glibc !== undefined) {
      process.report.getReport = () => ({ header: { glibcVersionRuntime: glibc || undefined } })
    }`
  return [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(preload)}`]
}
