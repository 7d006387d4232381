/** WCAG 2.2 §1.4.3: the least contrast of text of the usual size. */
export const leastContrast = 4.5

/** How much two colours (`#rrggbb`) differ, from 1 to 21 (WCAG 2.2, 'contrast ratio'). */
export function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

/** A contrast as pages say it: rounded down, so that what is too little never reads as enough. */
export const shownContrast = (contrast: number) => (Math.floor(contrast * 10) / 10).toFixed(1)

/** WCAG 2.2, 'relative luminance'. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
