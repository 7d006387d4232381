const browsers = [
  // In this order: each of them also says that it is the ones below.
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const

const systems = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const

/** What a User-Agent is, in words that people know: `Firefox on Linux`. */
export function browserName(agent: string): string {
  const [, browser] = browsers.find(([pattern]) => pattern.test(agent)) ?? []
  const [, system] = systems.find(([pattern]) => pattern.test(agent)) ?? []
  // The beginning of a program's own name. It is what a stranger sent, and the page escapes it.
  if (browser === undefined) return agent === '' ? 'Unknown browser' : agent.slice(0, 60)
  return system === undefined ? browser : `${browser} on ${system}`
}
