// Damage to a packed rollout, and to the pair of a packed and a plain one.
import { spawnSync } from 'node:child_process'
import { half, kind } from './draft.mjs'

const pack = text => spawnSync('zstd', ['-q', '-3', '--no-check', '-c'], { input: text }).stdout
const spoilPacked = spoil => (draft, bytes) => spoil(bytes, draft)

/** Frames have no checksum, so many a flipped bit unpacks to other words. */
const flipped = at => bytes => Buffer.from(bytes.with(at, bytes[at] ^ 0x10))

/** The same thread, plain beside packed. */
const twin = text => (draft, bytes, name) => [{ name, bytes }, { name: name.replace('.zst', ''), bytes: text(draft) }]

export const packed = [
  kind('packed-torn', 'packed', spoilPacked(bytes => bytes.subarray(0, bytes.length * 2 / 3)), { asIs: /not resumed.*incomplete frame/ }),
  kind('packed-flipped', 'packed', spoilPacked(flipped(40)), { asIs: /not resumed/ }),
  kind('packed-flipped-unnoticed', 'packed', spoilPacked(flipped(1251))),
  kind('packed-header-zeroed', 'packed', spoilPacked(bytes => bytes.fill(0, 0, 4)), { asIs: /not resumed/ }),
  kind('packed-plain-behind', 'packed', spoilPacked((bytes, draft) => Buffer.concat([bytes, draft.lines.at(-1), Buffer.from('\n')])), { asIs: /not resumed/ }),
  kind('packed-nul-behind', 'packed', spoilPacked(bytes => Buffer.concat([bytes, Buffer.alloc(64)])), { asIs: /not resumed/ }),
  kind('packed-of-torn', 'packed', draft => pack(draft.bytes().subarray(0, -40)), { asIs: /not resumed.*past the source rollout/ }),
  kind('packed-twin', 'packed', twin(draft => draft.bytes())),
  kind('packed-twin-torn', 'packed', twin((draft) => {
    draft.cut(8)
    draft.append(half(draft.lines.at(-1)))
    return draft.bytes().subarray(0, -1)
  }), { asIs: /not resumed/ }),
]
