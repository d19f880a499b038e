// Package journal keeps sequence state in one crash-safe file, so that a gateway
// that is killed and started again with the same keys repeats no nonce (RFC 4106,
// section 3.1) and opens no packet twice (RFC 4303, section 3.4.3). For each SA
// identity under a key it holds which outbound sequence numbers were reserved
// ahead and the highest inbound number that was accepted. It knows no SA, no key
// and no packet; a keeper above it decides when what is written.
//
// # Use
//
//	j, err := journal.Open(dir, journal.Options{Log: log})
//	var b journal.Batch
//	b.Add(journal.Entry{Identity: id, Reserved: 4096})
//	err = j.Commit(&b, true)   // nil: 4096 numbers may be used
//	index, _ := j.Lookup(id)   // stays the same until Close
//	b.Reserve(index, 8192)
//	b.Accept(other, 77)
//	err = j.Commit(&b, true)   // one write, one fdatasync
//
// An entry has an Index only once it is committed, so no other call can name one
// that is not there; index 0 is none. Commit empties the batch when it succeeds
// and leaves it as it is, to be committed again, when it fails. An outbound number
// may be used only after a Commit with sync that reserved it returned nil.
//
// Reserve and Accept only raise; Settle alone lowers, which is for a clean stop.
//
// # Folder
//
// The folder holds "journal", "lock" (flock, with the holder's PID) and, during a
// rewrite, "journal.new". Folder and files that others than the user and root may
// write to are refused, and so is a journal that is a symbolic link.
//
// # File format, version 1
//
// A header, then frames, without gaps. All numbers are unsigned and in network
// byte order. A check is the CRC32C (RFC 3385) of all octets of the file before it,
// checks and end marks left out: a frame is valid only behind just those that
// were there when it was written. Checks must be left out because a CRC that runs
// over its own value forgets what it has seen.
//
//	header   0  8  "espgwseq"
//	         8  4  version, 1
//	        12 32  secret: random, the key of fingerprints; the same after a rewrite
//	        44  8  random number of this file: frames of another do not check here
//	        52  4  check
//
//	frame    0  4  N, the length of the records: 1 to 2^30
//	         4  4  check, over N only a check of the length
//	         8  N  records
//	       8+N  4  check
//	      12+N  1  end mark, 0xA5
//
//	records, of which each begins with an octet of type:
//	entry    0  1  1
//	         1  1  flags: 1 IPv6, 2 ESN; others 0
//	         2 16  fingerprint of key and salt
//	        18  8  constant of the SA's IVs
//	        26  4  SPI
//	        30 16  source address
//	        46 16  destination address
//	        62  8  reserved
//	        70  8  highest
//	        78  8  removed
//	update   0  1  2 reserved, 3 highest, 4 removed
//	         1  4  number of the entry: 0 for the file's first entry record, 1 for the next
//	         5  8  value, in place of the one before
//
// Reserved and highest are sequence numbers. Removed is in seconds since 1970, less
// than 2^63, or 0 for an entry in use.
//
// # What a reader does
//
// A Commit appends one frame with one write. If the program or the machine ends
// meanwhile, the last frame may be unfinished: the file ends inside it, or its end
// mark and all that follows it are zeros (space that a file system had given to the
// file but not filled yet). Such a frame was never acknowledged and is left out.
// The length has a check of its own and the end mark is at least two flipped bits
// from zero, so that no single damaged bit makes a finished frame look unfinished.
// Everything else that does not check is damage: Open says where (DamagedError)
// and nothing is written any more, for what was sent behind the damage is not
// known. An older copy of the file that was put in its place cannot be told from
// the file itself: never restore a journal from a backup.
//
// # Rewrites
//
// The whole state is written to a new file, which is synced and renamed over the
// old one; then the folder is synced. That happens when the file is larger than
// 4 MiB and than four times what its entries need; and before anything is appended
// after a failed write or sync, or after Open, since what is on stable storage then
// is not known (the kernel reports a failed sync once only, and to the process that
// had the file open). If there are more than 65,536 entries, those removed more than
// 30 days ago are left out.
package journal
