import { isAnimated } from './animated.js'

/*
 * Pictures from cameras are made smaller before they are sent: readers' screens show no more, and the upload takes
 * seconds instead of minutes. Without script, and where the browser cannot, the file is sent as it is.
 */

// The widest that mails show, twice for sharp screens.
const widest = 1_600
const largeBytes = 1024 * 1024
const quality = 0.85
// A GIF may move, and a canvas has one frame; for the others `isAnimated` tells.
const shrinkable = new Set(['image/jpeg', 'image/png', 'image/webp'])

// Fields whose pictures are being made smaller.
const busy = new Map<HTMLInputElement, Promise<void>>()

/** Makes each file field that asks for it send smaller pictures; its form waits for them. */
export function shrinkPictures(): void {
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.dataset.shrinks === undefined) return
    const shrinking = shrinkIn(target).finally(() => {
      if (busy.get(target) === shrinking) busy.delete(target)
    })
    busy.set(target, shrinking)
  })
  // Before other listeners: until then the form would send the large pictures, which the server may refuse.
  document.addEventListener(
    'submit',
    (event) => {
      const { target, submitter } = event
      if (!(target instanceof HTMLFormElement)) return
      const waiting = [...busy].filter(([input]) => input.form === target)
      if (waiting.length === 0) return
      event.preventDefault()
      event.stopImmediatePropagation()
      void Promise.all(waiting.map(([, shrinking]) => shrinking)).then(() =>
        target.requestSubmit(submitter),
      )
    },
    true,
  )
}

async function shrinkIn(input: HTMLInputElement): Promise<void> {
  const given = [...(input.files ?? [])]
  const made = new DataTransfer()
  for (const file of given) made.items.add(await smaller(file).catch(() => file))
  // Somebody may have chosen other files meanwhile.
  if (given.every((file, at) => input.files?.[at] === file)) input.files = made.files
}

/** The picture with at most so many pixels across; the file itself where that is not smaller. */
async function smaller(file: File): Promise<File> {
  if (!shrinkable.has(file.type) || (await isAnimated(file))) return file
  const picture = await createImageBitmap(file, { imageOrientation: 'from-image' })
  const scale = Math.min(1, widest / picture.width)
  if (scale === 1 && file.size <= largeBytes) return file
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(picture.width * scale)
  canvas.height = Math.round(picture.height * scale)
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
  picture.close()
  const blob = await new Promise<Blob | null>((done) => {
    canvas.toBlob(done, file.type, quality)
  })
  if (blob === null || blob.type !== file.type || blob.size >= file.size) return file
  return new File([blob], file.name, { type: file.type, lastModified: file.lastModified })
}
