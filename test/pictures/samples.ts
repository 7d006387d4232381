import { deflateSync } from 'node:zlib'

/** Files of pictures with places and names in them, as cameras and programs write them. */

const be32 = (n: number) => Buffer.from([n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255])
const be16 = (n: number) => Buffer.from([n >>> 8, n & 255])

export const pngChunk = (type: string, data: Buffer) =>
  Buffer.concat([
    be32(data.length),
    Buffer.from(type),
    data,
    be32(crc(Buffer.concat([Buffer.from(type), data]))),
  ])

function crc(bytes: Buffer): number {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  }
  return (sum ^ 0xffffffff) >>> 0
}

/** Black and white, with a text and Exif that name a place. */
export function png(width = 3, height = 2): Buffer {
  const rows = Buffer.alloc(Math.min(height, 100) * (1 + Math.ceil(width / 8)))
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', Buffer.concat([be32(width), be32(height), Buffer.from([1, 0, 0, 0, 0])])),
    pngChunk('tEXt', Buffer.from('Place\0Lagos, Main Street')),
    pngChunk('eXIf', Buffer.from('MM\0*Lagos')),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
    Buffer.from('Lagos behind the end'),
  ])
}

export const segment = (marker: number, data: Buffer) =>
  Buffer.concat([Buffer.from([0xff, marker]), be16(data.length + 2), data])

/** A JPEG by its markers, turned as phones turn them, with a place in each part that may hold one. */
export const jpeg = (orientation = 6): Buffer =>
  Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1')),
    segment(
      0xe1,
      Buffer.concat([
        Buffer.from('Exif\0\0II*\0\x08\0\0\0\x02\0', 'latin1'),
        Buffer.from([0x0f, 1, 2, 0, 4, 0, 0, 0, 76, 97, 103, 0]),
        Buffer.from([0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0]),
        Buffer.from('\0\0\0\0Lagos'),
      ]),
    ),
    segment(0xed, Buffer.from('Photoshop 3.0\0Lagos')),
    segment(0xfe, Buffer.from('Lagos')),
    segment(
      0xc0,
      Buffer.concat([Buffer.from([8]), be16(2), be16(3), Buffer.from([1, 1, 0x11, 0])]),
    ),
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.from([1, 2, 0xff, 0, 3, 0xff, 0xd0, 4, 0xff, 0xd9]),
    Buffer.from('a film from Lagos'),
  ])

export const gif = (): Buffer =>
  Buffer.concat([
    Buffer.from('GIF89a\x03\0\x02\0\x80\0\0', 'latin1'),
    Buffer.from([0, 0, 0, 255, 255, 255]),
    Buffer.from('\x21\xfe\x05Lagos\0', 'latin1'),
    Buffer.from('\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0', 'latin1'),
    Buffer.from('\x21\xff\x0bXMP DataXMP\x05Lagos\0', 'latin1'),
    Buffer.from([0x2c, 0, 0, 0, 0, 3, 0, 2, 0, 0, 2, 2, 0x4c, 1, 0]),
    Buffer.from([0x3b]),
  ])

export const riff = (type: string, data: Buffer) => {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(data.length)
  return Buffer.concat([Buffer.from(type), size, data, Buffer.alloc(data.length % 2)])
}

export function webp(): Buffer {
  const flags = Buffer.from([0x0c, 0, 0, 0, 2, 0, 0, 1, 0, 0])
  const chunks = Buffer.concat([
    riff('VP8X', flags),
    riff('VP8L', Buffer.from([0x2f, 2, 0x40, 0, 0, 1])),
    riff('EXIF', Buffer.from('Lagos')),
    riff('XMP ', Buffer.from('Lagos')),
  ])
  return riff('RIFF', Buffer.concat([Buffer.from('WEBP'), chunks]))
}
