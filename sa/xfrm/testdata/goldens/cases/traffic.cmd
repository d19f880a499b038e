# Live values: ping between two namespaces, both ends' SAs in the first one.
ip xfrm state add src 10.55.0.1 dst 10.55.0.2 proto esp spi 0x901 reqid 9 mode transport replay-window 32 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.55.0.2 dst 10.55.0.1 proto esp spi 0x902 reqid 9 mode transport replay-window 32 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm policy add dir out src 10.55.0.1 dst 10.55.0.2 tmpl proto esp reqid 9 mode transport
ip xfrm policy add dir in src 10.55.0.2 dst 10.55.0.1 tmpl proto esp reqid 9 mode transport
traffic 3
ip xfrm state list nokeys
ip -s xfrm state list nokeys
ip -s xfrm policy list
ip xfrm state flush
ip xfrm state add src 10.55.0.1 dst 10.55.0.2 proto esp spi 0x903 reqid 9 mode transport replay-window 64 flag esn aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.55.0.2 dst 10.55.0.1 proto esp spi 0x904 reqid 9 mode transport replay-window 64 flag esn aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
traffic 5
ip xfrm state list nokeys
ip -s xfrm state list nokeys
