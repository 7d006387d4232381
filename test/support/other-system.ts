export interface System {
  /** The version of Node; this one's by default. */
  node?: string
  /** The version of the C library, '' for another library than glibc; this system's by default. */
  glibc?: string
}

/** To be put before a script: runs this Node so that it reports the given versions of itself and of the C library. */
export function nodeOn({ node = process.versions.node, glibc }: System): string[] {
  const preload = `
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } })
    const glibc = ${JSON.stringify(glibc)}
    if (glibc !== undefined) {
      process.report.getReport = () => ({ header: { glibcVersionRuntime: glibc || undefined } })
    }`
  return [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(preload)}`]
}
