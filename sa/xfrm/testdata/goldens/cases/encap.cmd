ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x301 reqid 3 mode transport replay-window 32 aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 encap espinudp 4500 4500 0.0.0.0
ip xfrm state add src 10.0.0.2 dst 10.0.0.1 proto esp spi 0x302 reqid 3 mode transport aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 encap espinudp 0x1194 40000 192.168.1.1 sel src 10.0.0.2 dst 10.0.0.1
ip xfrm state add src 2001:db8::1 dst 2001:db8::2 proto esp spi 0x303 reqid 3 mode transport aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 encap espinudp 4500 4500 ::
ip xfrm state add src 2001:db8::2 dst 2001:db8::1 proto esp spi 0x304 reqid 3 mode transport aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 encap espinudp 4500 4500 0.0.0.0
ip xfrm state list nokeys
ip -s xfrm state list nokeys
