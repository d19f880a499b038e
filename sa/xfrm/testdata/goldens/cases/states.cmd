# Flags, lookups, deletion, updates.
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x701 reqid 7 flag noecn aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x702 reqid 7 flag noecn decap-dscp nopmtudisc icmp af-unspec align4 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x703 reqid 8 flag 0x10 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.3 dst 10.0.0.2 proto esp spi 0xffffffff reqid 0xffffffff aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.4 proto esp spi 010 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state list nokeys
ip -s xfrm state list nokeys
ip xfrm state get dst 10.0.0.2 proto esp spi 0x701
ip xfrm state get src 10.0.0.3 dst 10.0.0.2 proto esp spi 4294967295
ip xfrm state list nokeys src 10.0.0.3
ip xfrm state list nokeys dst 10.0.0.2/31
ip xfrm state list nokeys proto esp spi 8
ip xfrm state list nokeys reqid 7
ip xfrm state list nokeys mode transport flag icmp
ip xfrm state list nokeys mode tunnel
ip xfrm state add src 10.0.0.9 dst 10.0.0.2 proto esp spi 0x701 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state update src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x701 reqid 7 flag noecn aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 limit packet-hard 5
ip -s xfrm state get dst 10.0.0.2 proto esp spi 0x701
ip xfrm state update src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x777 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state delete dst 10.0.0.2 proto esp spi 0x703
ip xfrm state delete dst 10.0.0.2 proto esp spi 0x703
ip xfrm state get dst 10.0.0.2 proto esp spi 0x703
ip xfrm state count
ip xfrm state deleteall src 10.0.0.1 reqid 7
ip xfrm state list nokeys
ip xfrm state flush proto esp
ip xfrm state count
ip xfrm state list nokeys
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 spi 0x701 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x701
ip xfrm state add src 10.0.0.1 dst 2001:db8::1 proto esp spi 0x701 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi -1 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x100000000 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 08 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x701 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 nonsense
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x701 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 limit bytes 7
ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x701 mode trans aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 dst 10.0.0.7
